"""The slash commands. They never wait behind messages, and their answers are private."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import discord
from discord import app_commands

from bot.agent import Actor
from bot.frontend.approvals.decisions import Decisions
from bot.frontend.commands.deciding import add_decisions
from bot.frontend.commands.interactions import answer, channel_here, session_here
from bot.frontend.control import NOT_YOU, Control
from bot.frontend.people import People

Whole = Callable[[str, Actor], Awaitable[str]]


def add_commands(
    tree: app_commands.CommandTree[discord.Client],
    control: Control,
    decisions: Decisions,
    people: People,
) -> None:
    """Add the commands to a tree."""
    add_decisions(tree, decisions, people)
    _add_endings(tree, control, people)


def _add_endings(
    tree: app_commands.CommandTree[discord.Client], control: Control, people: People
) -> None:
    @tree.command()
    async def stop(interaction: discord.Interaction) -> None:
        """Stop the answer that is being written here."""
        session_id = await session_here(interaction)
        if session_id is not None:
            await answer(interaction, await control.stop(session_id, people.actor(interaction)))

    async def whole(interaction: discord.Interaction, act: Whole) -> None:
        session_id = await session_here(interaction)
        if session_id is None:
            return
        if not await people.may_talk(
            interaction.user, interaction.guild_id, channel_here(interaction)
        ):
            await answer(interaction, NOT_YOU)
        else:
            await answer(interaction, await act(session_id, people.actor(interaction)))

    @tree.command()
    async def reset(interaction: discord.Interaction) -> None:
        """Begin this conversation anew."""
        await whole(interaction, control.reset)

    @tree.command()
    async def compact(interaction: discord.Interaction) -> None:
        """Summarise the earlier part of this conversation."""
        await whole(interaction, control.compact)
