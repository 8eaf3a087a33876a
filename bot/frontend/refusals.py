"""Discord's refusals, as errors of ours that say who can act."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import aiohttp
import discord

from bot.errors import ParleyError

T = TypeVar("T")


class DiscordError(ParleyError):
    """Discord did not do what was asked of it; `code` is its number for why, 0 without one."""

    def __init__(self, text: str, code: int = 0) -> None:
        super().__init__(text)
        self.code = code


class MessageGoneError(DiscordError):
    """The message was deleted."""


class PlaceGoneError(DiscordError):
    """The channel, thread or DM was deleted."""


class RefusedError(DiscordError):
    """Something is not allowed here; the text says what, for people and for the log."""


class ContentRefusedError(RefusedError):
    """This text is not accepted, though others would be."""


class TooLargeError(DiscordError):
    """A file is larger than Discord takes here."""


class UnavailableError(DiscordError):
    """Discord cannot be reached, or failed; it may have done what was asked all the same."""


OLD_EDITS = 30046  # "maximum number of edits to messages older than 1 hour reached"
# The numbers are those of the reference, "JSON error codes".
_REASONS = {
    OLD_EDITS: "old messages may not be changed as often as this one was",
    50001: "I have no access to this place",
    50007: "this person takes no direct messages from me",
    50013: "I am missing a permission here",
    50083: "this thread is archived",
    160002: "I may not read the message history here",
    160005: "this thread is locked",
}
_CONTENT = {
    200000: "the server's AutoMod blocked it",
    200001: "the server's AutoMod blocked it",
    240000: "it has a link that Discord blocks",
}
_NEEDED = (
    "view_channel",
    "send_messages",
    "send_messages_in_threads",
    "read_message_history",
    "attach_files",
)


def translated(error: Exception, *, lacking: str = "") -> DiscordError:
    """Return our error for one that discord.py or its transport raised.

    Args:
        error: What was raised.
        lacking: The names of the permissions that are missing, where it is known.
    """
    if not isinstance(error, discord.HTTPException) or _is_for_now(error):
        return UnavailableError(f"{type(error).__name__}: {error}")
    match error.code:
        case 10008:
            return MessageGoneError("the message was deleted", 10008)
        case 10003:
            return PlaceGoneError("the place was deleted", 10003)
        case 40005:
            return TooLargeError("the file is too large", 40005)
        case code if code in _CONTENT:
            return ContentRefusedError(_CONTENT[code], code)
        case code:
            return RefusedError(_reason(error, lacking), code)


def _is_for_now(error: discord.HTTPException) -> bool:
    """Whether the same request may work later, as it stands."""
    return error.status >= 500 or (error.status == 429 and error.code != OLD_EDITS)


def _reason(error: discord.HTTPException, lacking: str) -> str:
    if error.code == 50013 and lacking:
        return f"I am missing a permission here: {lacking}"
    known = _REASONS.get(error.code)
    return known or f"Discord refused it (code {error.code}, status {error.status})"


def lacking(client: discord.Client, channel_id: int) -> str:
    """Return the names of the permissions that the bot misses in a place, as far as it knows."""
    channel = client.get_channel(channel_id)
    if not isinstance(channel, discord.TextChannel | discord.VoiceChannel | discord.Thread):
        return ""
    granted = channel.permissions_for(channel.guild.me)
    unneeded = (
        "send_messages" if isinstance(channel, discord.Thread) else "send_messages_in_threads"
    )
    missing = (each for each in _NEEDED if each != unneeded and not getattr(granted, each))
    return ", ".join(each.replace("_", " ").title() for each in missing)


async def asked(request: Callable[[], Awaitable[T]], lacking: Callable[[], str] = lambda: "") -> T:
    """Make a request of Discord; one that was begun goes on when nobody waits for it any more.

    discord.py holds all requests back while a global rate limit lasts, and for ever if the one
    that has met it is cancelled meanwhile.

    Raises:
        DiscordError: the kind that says who can act.
    """

    async def made() -> T:
        return await request()

    task = asyncio.create_task(made(), name="request of Discord")
    task.add_done_callback(_seen)
    try:
        return await asyncio.shield(task)
    except (discord.DiscordException, aiohttp.ClientError, OSError) as exc:
        raise translated(exc, lacking=lacking()) from exc


def _seen(task: asyncio.Task[T]) -> None:
    """Take note of how a request ended, lest asyncio complains that nobody did."""
    if not task.cancelled():
        task.exception()
