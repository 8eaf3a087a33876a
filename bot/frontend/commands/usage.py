"""The command /usage: for oneself, and for managers of the server. Its answers are private."""

from __future__ import annotations

import io
from typing import Literal

import discord
from discord import app_commands

from bot.frontend.commands.interactions import acknowledged, answer
from bot.frontend.people import People
from bot.frontend.usage.report import Told, UsageDesk

NOT_A_SERVER = "That is for servers; here is only what you used yourself."
NOT_A_MANAGER = "Only people with Manage Server may see what others used."
View = Literal["mine", "people", "days"]


def add_usage(
    tree: app_commands.CommandTree[discord.Client], desk: UsageDesk, people: People
) -> None:
    """Add the command to a tree."""

    @tree.command()
    @app_commands.describe(
        view="mine, or this server's by people or by days: for who may manage it"
    )
    async def usage(interaction: discord.Interaction, view: View = "mine") -> None:
        """Show how many tokens were used, and what is left."""
        if await acknowledged(interaction):
            told = await _told(desk, people, interaction, view)
            files = [discord.File(io.BytesIO(told.csv.encode()), "usage.csv")] if told.csv else []
            await answer(interaction, told.text, files=files)


async def _told(
    desk: UsageDesk, people: People, interaction: discord.Interaction, view: View
) -> Told:
    actor, now = people.actor(interaction), interaction.created_at
    if view == "mine":
        return await desk.own(actor, now)
    if interaction.guild is None:
        return Told(NOT_A_SERVER)
    if not (actor.moderator or actor.owner):
        return Told(NOT_A_MANAGER)
    tell = desk.by_person if view == "people" else desk.by_day
    return await tell(interaction.guild, now)
