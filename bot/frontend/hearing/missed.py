"""Reading what was written in a place while nobody listened."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence

import discord

from bot.frontend.refusals import asked, lacking

logger = logging.getLogger(__name__)

MOST_OLD = 500  # messages older than the window that are looked at, in one place

Channel = (
    discord.TextChannel
    | discord.VoiceChannel
    | discord.StageChannel
    | discord.Thread
    | discord.DMChannel
    | discord.GroupChannel
    | discord.PartialMessageable
)


def is_readable(channel: Channel) -> bool:
    """Whether the bot may read what was written in a place; if not, the log says why.

    Without Read Message History Discord answers with no messages (reference, "Get Channel
    Messages"), which looks as if there were none.
    """
    if not isinstance(channel, discord.abc.GuildChannel | discord.Thread):
        return True
    if isinstance(channel, discord.Thread) and channel.parent is None:
        return True  # discord.py does not know what would be allowed there
    granted = channel.permissions_for(channel.guild.me)
    if granted.view_channel and not granted.read_message_history:
        logger.warning(
            "what was missed in %s cannot be read: Read Message History is missing", channel.id
        )
    return granted.view_channel and granted.read_message_history


async def newer(
    client: discord.Client, channel: Channel, after: int
) -> AsyncIterator[discord.Message]:
    """Give what was written after a message, oldest first, page by page.

    Raises:
        DiscordError: if it cannot be read.
    """
    history = channel.history(limit=None, after=discord.Object(after), oldest_first=True)
    async for message in _translated(client, channel, history):
        yield message


async def between(
    client: discord.Client, channel: Channel, after: int, before: int
) -> Sequence[discord.Message]:
    """Return what was written between two ids, oldest first: the latest of it, if it is much.

    Raises:
        DiscordError: if it cannot be read.
    """
    found: list[discord.Message] = []
    history = channel.history(limit=MOST_OLD, before=discord.Object(before), oldest_first=False)
    async for message in _translated(client, channel, history):
        if message.id <= after:
            break
        found.append(message)
    return found[::-1]


async def _translated(
    client: discord.Client, channel: Channel, history: AsyncIterator[discord.Message]
) -> AsyncIterator[discord.Message]:
    messages = aiter(history)
    while True:
        try:
            yield await asked(lambda: anext(messages), lambda: lacking(client, channel.id))
        except StopAsyncIteration:
            return
