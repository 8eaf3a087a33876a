"""The commands `/remind`, `/reminders` and `/timezone`."""

from __future__ import annotations

import asyncio
from zoneinfo import available_timezones

import discord
from discord import app_commands

from bot.frontend.commands.interactions import acknowledged, answer, channel_here, place_here
from bot.frontend.control import NOT_YOU
from bot.frontend.ids import user_id_of
from bot.frontend.people import People
from bot.frontend.schedules.scheduling import LONGEST, NOT_THERE, Scheduling
from bot.frontend.text import one_line
from bot.sessions.stores.homes import Home

CHOICES = 25  # Discord shows no more
Choices = list[app_commands.Choice[str]]
When = app_commands.Range[str, 1, 100]
Text = app_commands.Range[str, 1, LONGEST]
Name = app_commands.Range[str, 1, 100]
Page = app_commands.Range[int, 1, 100]


def add_schedule_commands(
    tree: app_commands.CommandTree[discord.Client], scheduling: Scheduling, people: People
) -> None:
    """Add the commands to a tree."""
    _add_remind(tree, scheduling, people)
    _add_reminders(tree, scheduling)
    _add_timezone(tree, scheduling)


def _add_remind(
    tree: app_commands.CommandTree[discord.Client], scheduling: Scheduling, people: People
) -> None:
    @tree.command()
    @app_commands.describe(
        when="Such as: in 20 minutes, tomorrow 9:00, every weekday 9:00",
        text="What to say then, here",
        ask="Whether I am to work on it then, rather than just say it",
    )
    async def remind(
        interaction: discord.Interaction, when: When, text: Text, ask: bool = False
    ) -> None:
        """Have something said here later, once or again and again."""
        place = place_here(interaction)
        if place is None or not await acknowledged(interaction):
            return
        if not await people.may_talk(
            interaction.user, interaction.guild_id, channel_here(interaction)
        ):
            await answer(interaction, NOT_YOU)
            return
        user_id = user_id_of(interaction.user.id)
        said = await scheduling.remind(
            user_id, place.session_id, when, text, asks=ask, home=_home(interaction)
        )
        await answer(interaction, said)


def _home(interaction: discord.Interaction) -> Home | None:
    """Return the server and channel of a command, `None` for one in a DM."""
    channel, server = interaction.channel, interaction.guild_id
    if server is None or channel is None:
        return None
    return Home(server, channel.parent_id if isinstance(channel, discord.Thread) else channel.id)


def _add_reminders(tree: app_commands.CommandTree[discord.Client], scheduling: Scheduling) -> None:
    async def complete(interaction: discord.Interaction, current: str) -> Choices:
        kept = await scheduling.of(user_id_of(interaction.user.id))
        named = [(one_line(f"{each.rule}: {each.text}", 100), each.schedule_id) for each in kept]
        return _choices(named, current)

    @tree.command()
    @app_commands.describe(cancel="One to end", page="Which page of them to show")
    @app_commands.autocomplete(cancel=complete)
    async def reminders(
        interaction: discord.Interaction, cancel: Name | None = None, page: Page = 1
    ) -> None:
        """See your reminders, and cancel one."""
        if await acknowledged(interaction):
            user_id = user_id_of(interaction.user.id)
            if cancel is None:
                said = await scheduling.shown(user_id, page)
            else:
                said = await scheduling.cancel(user_id, cancel) or NOT_THERE
            await answer(interaction, said)


def _add_timezone(tree: app_commands.CommandTree[discord.Client], scheduling: Scheduling) -> None:
    names: list[str] = []

    async def complete(interaction: discord.Interaction, current: str) -> Choices:
        if not names:
            names.extend(sorted(await asyncio.to_thread(available_timezones)))
        return _choices([(name, name) for name in names], current.replace(" ", "_"))

    @tree.command()
    @app_commands.describe(zone="Such as Europe/Paris; left out, yours is shown")
    @app_commands.autocomplete(zone=complete)
    async def timezone(interaction: discord.Interaction, zone: Name | None = None) -> None:
        """See or set the time zone in which I read your times."""
        if await acknowledged(interaction):
            await answer(interaction, await scheduling.zone(user_id_of(interaction.user.id), zone))


def _choices(named: list[tuple[str, str]], current: str) -> Choices:
    found = [each for each in named if current.lower() in each[0].lower()]
    return [app_commands.Choice(name=name, value=value) for name, value in found[:CHOICES]]
