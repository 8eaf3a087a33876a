"""Doing what people who manage a server ask for in the panel, and showing what holds then."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, cast
from weakref import WeakValueDictionary

import discord

from bot.frontend.commands.interactions import acknowledged, answer, channel_here, owned
from bot.frontend.commands.settings import panel, topics
from bot.frontend.commands.settings.edits import (
    FILE_LIMIT,
    TOO_LONG,
    SettingError,
    prompt_of_file,
    to,
)
from bot.frontend.commands.settings.forms import FORM, Form, form
from bot.frontend.commands.settings.panel import Address, Shown
from bot.frontend.commands.settings.topics import Topic
from bot.frontend.people import People
from bot.frontend.refusals import DiscordError, asked
from bot.frontend.settings.book import Edit, SettingsBook
from bot.frontend.settings.own import Own
from bot.frontend.showing.outbox import NOBODY
from bot.sessions.stores.homes import Home
from bot.sessions.stores.settings import Scope

logger = logging.getLogger(__name__)

NOT_A_MANAGER = "Only people with Manage Server may change settings here."
LATE = "I was started anew since this was opened, so nothing was changed. Please open it again."
NOT_WRITABLE = (
    "**I may not write in <#{}>. Until I may, requests are shown where the conversation is.**"
)
NOTHING_TO_WRITE = "The operator lets nobody change that here."
READ_WITHIN = 1.0
"""Seconds for what a form shows: it has to be opened within three."""
OTHERS_FIRST = 1.0
"""Seconds for another process to take a form: somebody has to within three."""
CHANGES = 10


class SettingsDesk:
    """Shows and changes the settings of servers, for those who manage them."""

    def __init__(self, *, book: SettingsBook, people: People) -> None:
        self.book = book
        self._people = people
        self._open: WeakValueDictionary[str, Form] = WeakValueDictionary()

    async def open(self, interaction: discord.Interaction, opened: Form) -> None:
        """Open a form, as the first answer to a click or a command."""
        self._open[opened.custom_id] = opened
        await asked(lambda: interaction.response.send_modal(opened))

    async def late(self, interaction: discord.Interaction) -> None:
        """Answer whoever sends a form off that no process knows anything of."""
        data = cast("dict[str, Any]", interaction.data or {})
        name = str(data.get("custom_id", ""))
        if not name.startswith(FORM) or name in self._open or not owned(interaction):
            return
        await others_first()
        if await acknowledged(interaction, thinking=True):
            await answer(interaction, LATE)

    def may_manage(self, interaction: discord.Interaction) -> bool:
        """Whether somebody may change settings where they are."""
        actor = self._people.actor(interaction)
        return interaction.guild_id is not None and (actor.moderator or actor.owner)

    async def opened(self, interaction: discord.Interaction, note: str = "") -> None:
        """Show the panel for a command that was acknowledged."""
        shown = await self._main(Scope(interaction.guild_id or 0), channel_here(interaction), note)
        await show(interaction, shown)

    async def pressed(
        self, interaction: discord.Interaction, address: Address, values: Sequence[str]
    ) -> None:
        """Do what a menu or a button is for, and show what holds then."""
        scope = Scope(interaction.guild_id or 0, address.channel)
        if address.what == panel.MENU and self.may_manage(interaction):
            written = await self._form(Topic(values[0]), scope, address.origin)
            if written is not None:
                await self.open(interaction, written)
                return
        if not await acknowledged(interaction):
            return
        if not self.may_manage(interaction):
            await answer(interaction, NOT_A_MANAGER)
            return
        by = self._people.actor(interaction).user_id
        note = _note(interaction, address, values)
        await show(interaction, await self._done(scope, address, values, by, note))

    async def changed(
        self,
        scope: Scope,
        origin: int,
        field: str,
        by: str,
        make: Callable[[], Edit],
        note: str = "",
    ) -> Shown:
        """Change a field; return the panel, which tells what was wrong, or else `note`."""
        try:
            await self.book.change(scope, field, by, make())
        except SettingError as exc:
            note = f"**{exc}**"
        return await self._main(scope, origin, note)

    async def _done(
        self, scope: Scope, address: Address, values: Sequence[str], by: str, note: str
    ) -> Shown:
        origin = address.origin
        match address.what:
            case panel.MENU:
                return await self._choosing(Topic(values[0]), scope, origin, 0)
            case panel.PAGE:
                return await self._choosing(Topic(address.topic), scope, origin, address.page)
            case panel.HISTORY:
                changes = await self.book.changes(scope.server_id, CHANGES)
                return panel.page(topics.history(changes), scope, origin)
            case panel.DEFAULT:
                unset = to(**{address.topic: None})
                return await self.changed(scope, origin, address.topic, by, lambda: unset)
            case "choose":
                edit = await self._choice(Topic(address.topic), scope, address.page, values)
                return await self.changed(scope, origin, address.topic, by, lambda: edit, note)
            case _:
                return await self._main(scope, origin)

    async def _choice(self, topic: Topic, scope: Scope, page: int, values: Sequence[str]) -> Edit:
        """Return the change to what was chosen on a page; of other pages what holds stays."""
        if topic is Topic.ROLES:
            return to(roles=frozenset(map(int, values)))
        if topic is Topic.APPROVALS:
            return to(approvals_channel=int(values[0]))
        here = await self.book.here(_home(scope), fresh=True)
        menu = topics.menu(topic, here, self.book.operator)
        assert menu is not None  # noqa: S101 - only menus have choices
        others = menu.chosen - set(panel.page_of(menu, page)) if menu.many else frozenset()
        return to(**{topic: menu.read(others | frozenset(values))})

    async def _main(self, scope: Scope, origin: int, note: str = "") -> Shown:
        return panel.main(await self.book.here(_home(scope), fresh=True), scope, origin, note)

    async def _choosing(self, topic: Topic, scope: Scope, origin: int, number: int) -> Shown:
        if topic is Topic.ROLES:
            return panel.choosing_roles(scope, origin)
        if topic is Topic.APPROVALS:
            return panel.choosing_channel(scope, origin)
        here = await self.book.here(_home(scope), fresh=True)
        menu = topics.menu(topic, here, self.book.operator)
        if menu is None:
            return panel.main(here, scope, origin, NOTHING_TO_WRITE)
        return panel.choosing(topic, menu, scope, origin, number)

    async def _form(self, topic: Topic, scope: Scope, origin: int) -> Form | None:
        """Return the form of a topic, if it has one; it shows what is set."""

        async def done(interaction: discord.Interaction, make: Callable[[], Edit]) -> None:
            await self.sent_off(interaction, scope, origin, topic, make)

        async with asyncio.timeout(READ_WITHIN):
            own = await self._own(scope)
        return form(topic, own, self.book.operator, done)

    async def sent_off(
        self,
        interaction: discord.Interaction,
        scope: Scope,
        origin: int,
        field: str,
        make: Callable[[], Edit],
    ) -> None:
        """Make the change of a form, and show what holds then."""
        if not await acknowledged(interaction):
            return
        if not self.may_manage(interaction):
            await answer(interaction, NOT_A_MANAGER)
            return
        by = self._people.actor(interaction).user_id
        await show(interaction, await self.changed(scope, origin, field, by, make))

    async def _own(self, scope: Scope) -> Own:
        server, channel = await self.book.own(_home(scope))
        return channel if scope.channel_id else server


def _note(interaction: discord.Interaction, address: Address, values: Sequence[str]) -> str:
    """Return what to say of a channel that was chosen for requests and takes none; else nothing."""
    guild = interaction.guild
    if guild is None or (address.what, address.topic) != ("choose", Topic.APPROVALS):
        return ""
    channel = guild.get_channel(int(values[0]))
    granted = channel.permissions_for(guild.me) if channel else discord.Permissions.none()
    if granted.view_channel and granted.send_messages:
        return ""
    return NOT_WRITABLE.format(values[0])


async def read_prompt(file: discord.Attachment) -> str:
    """Return the prompt in a file that somebody sent.

    Raises:
        SettingError: if there is none in it, or it cannot be read.
    """
    if file.size > FILE_LIMIT:
        raise SettingError(TOO_LONG)
    try:
        data = await asked(file.read)
    except DiscordError as exc:
        raise SettingError(f"I could not read that file: {exc}.") from exc
    return await asyncio.to_thread(prompt_of_file, data)


async def show(interaction: discord.Interaction, shown: Shown) -> None:
    """Show a panel in place of the one that was there, or as the answer to a command."""
    try:
        await asked(
            lambda: interaction.edit_original_response(
                content=shown.text, view=shown.view, allowed_mentions=NOBODY
            )
        )
    except DiscordError as exc:
        logger.warning("a panel could not be shown: %s", exc)


async def others_first() -> None:
    """Let another process take a form that may have been opened there, as before a deploy."""
    await asyncio.sleep(OTHERS_FIRST)


def _home(scope: Scope) -> Home:
    return Home(scope.server_id, scope.channel_id)
