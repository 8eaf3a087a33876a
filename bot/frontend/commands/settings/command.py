"""The commands /settings and /persona. Their answers are private."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import discord
from discord import app_commands

from bot.frontend.commands.interactions import acknowledged, answer, channel_here
from bot.frontend.commands.settings.desk import NOT_A_MANAGER, SettingsDesk, read_prompt, show
from bot.frontend.commands.settings.edits import (
    SettingError,
    persona_name,
    prompt_to,
    to,
    with_persona,
    without_persona,
)
from bot.frontend.commands.settings.forms import PersonaForm
from bot.frontend.settings.book import Edit
from bot.frontend.settings.own import PromptMode, ServerSettings
from bot.frontend.text import code, plain
from bot.sessions.stores.homes import Home
from bot.sessions.stores.settings import Scope

CHOICES = 25  # Discord shows no more
NO_PERSONAS = "There are no personas in this server."
NONE = "none"
Where = Literal["server", "channel"]
Name = app_commands.Range[str, 1, 40]
Tree = app_commands.CommandTree[discord.Client]


def add_settings(tree: Tree, desk: SettingsDesk) -> None:
    """Add the commands to a tree."""
    _add_panel(tree, desk)
    tree.add_command(_Personas(desk))


def _add_panel(tree: Tree, desk: SettingsDesk) -> None:
    @tree.command()
    @app_commands.guild_only()
    @app_commands.describe(
        prompt_file="A text file that becomes the system prompt",
        whose="Whose prompt: this server's, or this channel's",
        instead="Whether the operator's prompt is left out",
    )
    async def settings(
        interaction: discord.Interaction,
        prompt_file: discord.Attachment | None = None,
        whose: Where = "server",
        instead: bool = False,
    ) -> None:
        """Show and change how I answer in this server."""
        if not await _admitted(interaction, desk):
            return
        if prompt_file is None:
            await desk.opened(interaction)
            return
        origin = channel_here(interaction)
        scope = Scope(interaction.guild_id or 0, origin if whose == "channel" else 0)
        mode = PromptMode.REPLACE if instead else PromptMode.ADD
        try:
            edit = prompt_to(await read_prompt(prompt_file), mode)
        except SettingError as exc:
            await desk.opened(interaction, f"**{exc}**")
            return
        by = f"user-{interaction.user.id}"
        await show(interaction, await desk.changed(scope, origin, "prompt", by, lambda: edit))


async def _admitted(
    interaction: discord.Interaction, desk: SettingsDesk, *, thinking: bool = False
) -> bool:
    """Acknowledge a command; return whether who gave it may manage the server."""
    if not await acknowledged(interaction, thinking=thinking):
        return False
    if desk.may_manage(interaction):
        return True
    await answer(interaction, NOT_A_MANAGER)
    return False


class _Personas(app_commands.Group):
    """Prompts by name, of which each channel may have one."""

    def __init__(self, desk: SettingsDesk) -> None:
        super().__init__(name="persona", description="Who I am in a channel", guild_only=True)
        self._desk = desk

    async def _known(self, interaction: discord.Interaction) -> ServerSettings:
        server, _ = await self._desk.book.own(Home(interaction.guild_id or 0, 0))
        return server

    async def complete(
        self, interaction: discord.Interaction, current: str
    ) -> list[app_commands.Choice[str]]:
        """Return the personas that fit what was typed."""
        names = sorted((await self._known(interaction)).personas)
        fitting = [name for name in names if current.lower() in name.lower()]
        return [app_commands.Choice(name=name, value=name) for name in fitting[:CHOICES]]

    @app_commands.command()
    @app_commands.describe(name="Whose prompt is used in this channel; none: the usual one")
    @app_commands.autocomplete(name=complete)
    async def use(self, interaction: discord.Interaction, name: Name) -> None:
        """Choose who I am in this channel, from the next message on."""
        if await _admitted(interaction, self._desk):
            known = (await self._known(interaction)).personas
            if name != NONE and name not in known:
                await answer(interaction, _listed(list(known)))
                return
            scope = Scope(interaction.guild_id or 0, channel_here(interaction))
            persona = None if name == NONE else name
            said = f"From the next message on I am {code(name)} here."
            if persona is None:
                said = "From the next message on I am nobody in particular here."
            await self._change(interaction, scope, lambda: to(persona=persona), said)

    @app_commands.command()
    @app_commands.describe(name="What it is called", file="A text file with its prompt")
    async def add(
        self, interaction: discord.Interaction, name: Name, file: discord.Attachment | None = None
    ) -> None:
        """Write a persona's prompt, or send it as a file."""
        if file is None:
            await self._write(interaction, name)
        elif await _admitted(interaction, self._desk):
            try:
                edit = with_persona(_new_name(name), await read_prompt(file))
            except SettingError as exc:
                await answer(interaction, str(exc))
            else:
                await self._change(interaction, _server(interaction), lambda: edit, "Kept.")

    @app_commands.command()
    @app_commands.describe(name="Which one")
    @app_commands.autocomplete(name=complete)
    async def remove(self, interaction: discord.Interaction, name: Name) -> None:
        """Remove a persona; channels that have it have the usual prompt again."""
        if await _admitted(interaction, self._desk):
            edit = without_persona(name)
            await self._change(interaction, _server(interaction), lambda: edit, "Removed.")

    @app_commands.command(name="list")
    async def show_all(self, interaction: discord.Interaction) -> None:
        """List the personas of this server."""
        if await acknowledged(interaction):
            personas = (await self._known(interaction)).personas
            lines = [f"- {code(name)}: {plain(text, 60)}" for name, text in personas.items()]
            await answer(interaction, "\n".join(lines)[:1900] or NO_PERSONAS)

    async def _write(self, interaction: discord.Interaction, written: str) -> None:
        """Open the form; that has to come first."""
        if not self._desk.may_manage(interaction):
            await _admitted(interaction, self._desk)
            return
        try:
            name = _new_name(written)
        except SettingError as exc:
            await interaction.response.send_message(str(exc), ephemeral=True)
            return

        async def done(sent: discord.Interaction, make: Callable[[], Edit]) -> None:
            if await _admitted(sent, self._desk, thinking=True):
                await self._change(sent, _server(sent), make, "Kept.")

        form = PersonaForm(name, "", lambda text: with_persona(name, text), done)
        await self._desk.open(interaction, form)

    async def _change(
        self,
        interaction: discord.Interaction,
        scope: Scope,
        make: Callable[[], Edit],
        said: str,
    ) -> None:
        by = f"user-{interaction.user.id}"
        try:
            await self._desk.book.change(scope, "persona", by, make())
        except SettingError as exc:
            said = str(exc)
        await answer(interaction, said)


def _new_name(written: str) -> str:
    name = persona_name(written)
    if name == NONE:
        raise SettingError("No persona can be called that.")
    return name


def _server(interaction: discord.Interaction) -> Scope:
    return Scope(interaction.guild_id or 0)


def _listed(names: list[str]) -> str:
    known = ", ".join(sorted(map(code, names)))
    return f"There is no persona of that name; there are: {known}." if names else NO_PERSONAS
