"""The command `/memory`: what is remembered of whoever uses it, and whether it may be."""

from __future__ import annotations

from typing import Literal

import discord
from discord import app_commands

from bot.frontend.commands.interactions import acknowledged, answer, channel_here, place_here
from bot.frontend.control import NOT_YOU
from bot.frontend.ids import Place, user_id_of
from bot.frontend.own.remembering import EVERYTHING, Remembering
from bot.frontend.people import People
from bot.frontend.text import one_line

CHOICES = 25  # Discord shows no more
Switch = Literal["on", "off"]
Page = app_commands.Range[int, 1, 100]
Name = app_commands.Range[str, 1, 100]


def add_memory_command(
    tree: app_commands.CommandTree[discord.Client], remembering: Remembering, people: People
) -> None:
    """Add the command to a tree."""

    async def complete(
        interaction: discord.Interaction, current: str
    ) -> list[app_commands.Choice[str]]:
        kept = await remembering.of(user_id_of(interaction.user.id))
        named = [(one_line(each.text, 100), each.memory_id) for each in kept]
        every = [*named, ("Everything", EVERYTHING)] if kept else []
        found = [each for each in every if current.lower() in each[0].lower()]
        return [app_commands.Choice(name=name, value=value) for name, value in found[:CHOICES]]

    @tree.command()
    @app_commands.describe(
        turn="Whether notes about you are kept and used in our DMs",
        here="Whether they may be in this channel too",
        remove="A note to forget, or everything",
        page="Which page of your notes to show",
    )
    @app_commands.autocomplete(remove=complete)
    async def memory(
        interaction: discord.Interaction,
        turn: Switch | None = None,
        here: Switch | None = None,
        remove: Name | None = None,
        page: Page = 1,
    ) -> None:
        """See what I remember about you, and decide about it."""
        place = place_here(interaction)
        if place is None or not await acknowledged(interaction):
            return
        if "on" in (turn, here) and not await people.may_talk(
            interaction.user, interaction.guild_id, channel_here(interaction)
        ):
            await answer(interaction, NOT_YOU)
            return
        said = await _done(remembering, interaction, place, turn, here, remove)
        if not said:
            said = [await remembering.shown(user_id_of(interaction.user.id), place, page)]
        await answer(interaction, "\n".join(said))


async def _done(
    remembering: Remembering,
    interaction: discord.Interaction,
    place: Place,
    turn: Switch | None,
    here: Switch | None,
    remove: str | None,
) -> list[str]:
    """Do what the options say, in this order; return what to say of each."""
    user_id = user_id_of(interaction.user.id)
    said = []
    if turn is not None:
        said.append(await remembering.turn(user_id, on=turn == "on"))
    if here is not None:
        channel_id = channel_here(interaction)
        said.append(await remembering.here(user_id, place, channel_id, on=here == "on"))
    if remove is not None:
        said.append(await remembering.remove(user_id, remove))
    return said
