"""Answering clicks and commands: first that they arrived, then privately what came of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Protocol, cast

import discord
from discord import app_commands

from bot.agent.loop.failures import logged
from bot.errors import StorageError
from bot.failpoints import around
from bot.frontend.ids import Place, PlaceKind
from bot.frontend.refusals import DiscordError, asked
from bot.frontend.showing.outbox import NOBODY, view_of
from bot.frontend.tasks import Tasks
from bot.frontend.view.shown import Button

logger = logging.getLogger(__name__)

TAKEN = 40060
"""Discord's number for one that is acknowledged already: reference, "JSON error codes"."""
NOT_DONE = (
    "I cannot read or write my memory right now, so nothing was done. Please try again in a while"
)

CUT_SHORT = (
    "I am being ended, and this was cut short. Please look whether it was done; if not, try again."
)


class HasTasks(Protocol):
    """The client, as far as whoever acts on an interaction needs it.

    Attributes:
        tasks: Those that it waits for when it ends.
        last_words: Those that it waits for after that.
    """

    tasks: Tasks
    last_words: Tasks


def owned(interaction: discord.Interaction) -> bool:
    """Let the front end own what acts on it, which discord.py has begun and awaits nowhere.

    Returns whether that may go on: in a process that has ended what it was at it may not.
    """
    acting = asyncio.current_task()
    return acting is not None and cast(HasTasks, interaction.client).tasks.own(acting)


async def acknowledged(interaction: discord.Interaction, *, thinking: bool = False) -> bool:
    """Tell Discord that it arrived, before anything else; one that is late is not acted on.

    From here on who clicked or commanded is told if what acts on it is cut short.

    Args:
        interaction: What arrived.
        thinking: Whether a form is answered by a message of its own.
    """
    client, acting = cast(HasTasks, interaction.client), asyncio.current_task()
    if acting is None or not owned(interaction):
        return False
    telling = client.last_words.task(_told(interaction, thinking), name="acknowledging")

    def ended(acting: asyncio.Task[Any]) -> None:
        if acting.cancelling():  # discord.py lets forms end as if they had not been cancelled
            client.last_words.start(_cut_short(interaction, telling), name="telling of an end")

    acting.add_done_callback(ended)
    return await asyncio.shield(telling)


async def _told(interaction: discord.Interaction, thinking: bool) -> bool:
    try:
        with around("acknowledge"):
            await asked(lambda: interaction.response.defer(ephemeral=True, thinking=thinking))
    except DiscordError as exc:
        if not _left(exc):
            logger.warning("an interaction could not be acknowledged: %s", exc)
        return False
    return True


async def _cut_short(interaction: discord.Interaction, telling: asyncio.Task[bool]) -> None:
    if await telling:
        await answer(interaction, CUT_SHORT)


async def answer(
    interaction: discord.Interaction,
    text: str,
    *,
    buttons: Sequence[Button] = (),
    files: Sequence[discord.File] = (),
) -> None:
    """Say something that only who clicked or commanded sees."""
    try:
        await asked(
            lambda: interaction.followup.send(
                text,
                ephemeral=True,
                allowed_mentions=NOBODY,
                view=view_of(buttons) or discord.utils.MISSING,
                files=list(files),
            )
        )
    except DiscordError as exc:
        logger.warning("an interaction could not be answered: %s", exc)


async def tell_failure(interaction: discord.Interaction, error: Exception) -> None:
    """Tell who clicked or commanded that it failed, with a reference that the log repeats."""
    if _left(error):
        return
    cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
    is_outage = isinstance(cause, StorageError)
    reference = logged("an interaction failed", cause, unexpected=not is_outage)
    if interaction.response.is_done() or await acknowledged(interaction):
        text = NOT_DONE if is_outage else "Something went wrong on my side"
        await answer(interaction, f"{text} (reference {reference}).")


def is_taken(error: BaseException | None) -> bool:
    """Whether it was acknowledged before: of two processes that hear it, in a deploy, one does."""
    return getattr(getattr(error, "original", error), "code", None) == TAKEN


def _left(error: Exception) -> bool:
    taken = is_taken(error)
    if taken:
        logger.info("an interaction is left to the process that has acknowledged it")
    return taken


def channel_here(interaction: discord.Interaction) -> int:
    """Return the channel in which somebody clicked or commanded, of a thread its own."""
    channel = interaction.channel
    parent = channel.parent_id if isinstance(channel, discord.Thread) else None
    return parent or interaction.channel_id or 0


def place_here(interaction: discord.Interaction) -> Place | None:
    """Return the place in which somebody clicked or commanded."""
    if interaction.channel_id is None:
        return None
    if interaction.guild_id is None:
        return Place(PlaceKind.DM, interaction.channel_id)
    if isinstance(interaction.channel, discord.Thread):
        return Place(PlaceKind.THREAD, interaction.channel_id)
    return Place(PlaceKind.CHANNEL, interaction.channel_id)


async def session_here(interaction: discord.Interaction) -> str | None:
    """Acknowledge a command and return the session it is about."""
    place = place_here(interaction)
    if place is None or not await acknowledged(interaction):
        return None
    return place.session_id
