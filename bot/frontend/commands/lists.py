"""/approvals and /audit; their answers are private."""

from __future__ import annotations

import io
from datetime import timedelta

import discord
from discord import app_commands

from bot.events import utc_now
from bot.frontend.approvals.lists import Audited, Lists
from bot.frontend.commands.interactions import acknowledged, answer, place_here
from bot.frontend.commands.policy import LONGEST, say
from bot.frontend.people import People

MANAGERS = "Only people with Manage Server may see this."
NOTHING_DONE = "No tool was asked for, decided or run."
Page = app_commands.Range[int, 1, 10_000]
Days = app_commands.Range[float, 0.01, 3650.0]


def add_lists(tree: app_commands.CommandTree[discord.Client], lists: Lists, people: People) -> None:
    """Add the commands to a tree."""

    @tree.command()
    @app_commands.describe(page="Which page of the list to show")
    async def approvals(interaction: discord.Interaction, page: Page = 1) -> None:
        """List what waits for a decision: here, or in the server for those who manage it."""
        place = place_here(interaction)
        if place is None or not await acknowledged(interaction):
            return
        server_id = interaction.guild_id
        if server_id is not None and people.actor(interaction).moderator:
            text = await lists.waiting_in(server_id, page)
        else:
            text = await lists.waiting_here(place.session_id, page)
        await say(interaction, text, "approvals.txt")

    @tree.command()
    @app_commands.describe(
        server="The whole server, not only this place", days="Only what is not older"
    )
    @app_commands.guild_only()
    @app_commands.default_permissions(manage_guild=True)
    async def audit(
        interaction: discord.Interaction, server: bool = False, days: Days | None = None
    ) -> None:
        """Tell which tool calls were asked for, decided and run, by whom and when."""
        place, server_id = place_here(interaction), interaction.guild_id
        if place is None or not await acknowledged(interaction):
            return
        actor = people.actor(interaction)
        if server_id is None or not (actor.moderator or actor.owner):
            await answer(interaction, MANAGERS)
            return
        since = utc_now() - timedelta(days=days) if days else None
        if server:
            found = await lists.audit_in(server_id, since)
        else:
            found = await lists.audit_here(place.session_id, since)
        await _tell(interaction, found)


async def _tell(interaction: discord.Interaction, found: Audited) -> None:
    """Tell the latest entries; all of them are attached."""
    if not found.everything:
        await answer(interaction, NOTHING_DONE)
        return
    lines = list(found.latest)
    while len("\n".join(lines)) > LONGEST:
        del lines[0]
    data = io.BytesIO("\n".join(found.everything).encode())
    await answer(interaction, "\n".join(lines), files=[discord.File(data, "audit.jsonl")])
