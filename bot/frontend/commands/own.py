"""The commands for what is one's own, and their buttons; all of it is answered privately."""

from __future__ import annotations

import io
from typing import Any, Protocol, cast

import discord
from discord import app_commands

from bot.frontend.commands.buttons import HasControl, Pressed
from bot.frontend.commands.interactions import acknowledged, answer, place_here
from bot.frontend.ids import Place
from bot.frontend.own.export import SUFFIX, Format, exported
from bot.frontend.own.forgetting import QUESTIONS, STAYS, Forgetting, Scope
from bot.frontend.own.listing import Listing, time_of
from bot.frontend.people import People
from bot.frontend.showing.uploads import EVERYWHERE
from bot.frontend.view.shown import Button
from bot.sessions import SessionStore

NOT_READABLE = "Only who may read the messages here may have them as a file."
EMPTY = "There is no conversation here yet."
TOO_LARGE = "This conversation is too large for a file in Discord ({0} MB). Ask who runs me for it."
WHAT = "Your messages here, this whole conversation, or everything I keep about you"


class HasOwn(HasControl, Protocol):
    """The client, as far as these commands need it."""

    forgetting: Forgetting
    listing: Listing


def add_own_commands(
    tree: app_commands.CommandTree[Any],
    *,
    forgetting: Forgetting,
    listing: Listing,
    store: SessionStore,
    people: People,
) -> None:
    """Add the commands to a tree."""

    @tree.command()
    @app_commands.describe(what=WHAT)
    @app_commands.choices(
        what=[
            app_commands.Choice(name="my messages here", value=Scope.MINE.value),
            app_commands.Choice(name="this whole conversation", value=Scope.HERE.value),
            app_commands.Choice(name="everything about me", value=Scope.EVERYTHING.value),
        ]
    )
    async def forget(interaction: discord.Interaction, what: str) -> None:
        """Let me forget for good what was said; you are asked first."""
        place = place_here(interaction)
        if place is None or not await acknowledged(interaction):
            return
        scope, actor = Scope(what), people.actor(interaction)
        refused = await forgetting.refusal(scope, place.session_id, actor)
        if refused is not None:
            await answer(interaction, refused)
            return
        text = f"Shall I forget {QUESTIONS[scope]}? This cannot be undone. {STAYS}"
        await answer(interaction, text, buttons=[Button("Forget", f"forget:{scope}", "danger")])

    @tree.command()
    async def sessions(interaction: discord.Interaction) -> None:
        """List the conversations in which you wrote to me."""
        if await acknowledged(interaction):
            page = await listing.page(interaction.user.id)
            await answer(interaction, page.text, buttons=page.buttons)

    @tree.command()
    @app_commands.rename(form="format")
    @app_commands.describe(form="Markdown to read, or JSON for programs")
    async def export(interaction: discord.Interaction, form: Format = Format.MARKDOWN) -> None:
        """Give you this conversation as a file."""
        place = place_here(interaction)
        if place is not None and await acknowledged(interaction):
            await _export(interaction, place, form, store)


async def _export(
    interaction: discord.Interaction, place: Place, form: Format, store: SessionStore
) -> None:
    if interaction.guild_id and not interaction.permissions.read_message_history:
        await answer(interaction, NOT_READABLE)
        return
    limit = interaction.guild.filesize_limit if interaction.guild else EVERYWHERE
    if not await store.read_log(place.session_id, limit=1):
        await answer(interaction, EMPTY)
        return
    data = await exported(store, place.session_id, form, limit=limit)
    if data is None:
        await answer(interaction, TOO_LARGE.format(limit // 2**20))
        return
    file = discord.File(io.BytesIO(data), filename=f"{place.session_id}.{SUFFIX[form]}")
    await answer(interaction, "This conversation, as far as I know it.", files=[file])


class Forget(Pressed, template=r"forget:(?P<name>mine|here|everything)"):
    """Forgets; whoever presses it is asked after again, since only they see the button."""

    done = frozenset()

    async def act(self, client: HasControl, place: Place, interaction: discord.Interaction) -> str:
        """Forget it, if they may."""
        forgetting, actor = cast(HasOwn, client).forgetting, client.people.actor(interaction)
        return await forgetting.forget(Scope(self.name), place.session_id, actor)


class More(Pressed, template=r"sessions:(?P<name>[0-9]{1,18})"):
    """Shows the next page of one's own conversations."""

    done = frozenset()

    async def _press(self, interaction: discord.Interaction, client: HasControl) -> None:
        listing = cast(HasOwn, client).listing
        page = await listing.page(interaction.user.id, time_of(self.name))
        await answer(interaction, page.text, buttons=page.buttons)


OWN_BUTTONS = (Forget, More)
