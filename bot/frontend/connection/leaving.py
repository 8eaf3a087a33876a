"""Leaving Discord: nothing new is taken, what runs may end, and what does not is left open."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

import discord

from bot.agent import Agent
from bot.frontend.wiring import Parts

logger = logging.getLogger(__name__)

LAST_WORDS = 5.0
"""Seconds to show what has been recorded."""
LAST_CLICKS = 1.0
"""Seconds, of those for running turns, to act on what was heard last."""
HUNG_UP_WITHIN = 1.0
"""Seconds that Discord has to say goodbye."""


async def leave(
    client: discord.AutoShardedClient, agent: Agent, parts: Parts, seconds: float
) -> None:
    """Let running turns finish for so many seconds, and show what has been recorded."""
    parts.expiry.close()
    parts.reminders.close()
    parts.arrivals.close()
    await parts.reading.cancel()
    last = min(LAST_CLICKS, seconds)
    await parts.work.finish(seconds - last)
    await _hang_up(client)
    if not await parts.work.finish(last):
        logger.info("some turns are left open; the next start goes on with them")
    agent.suspend()
    await parts.work.cancel()
    parts.showing.start(parts.previews.close(), name="the end of the previews")
    await parts.showing.finish(LAST_WORDS)
    await parts.showing.cancel()
    await parts.seen.flush()


async def _hang_up(client: discord.AutoShardedClient) -> None:
    """Hear nothing more: whoever acknowledges a click now could not act on it.

    Another process that hears it can, if this one leaves it alone.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(HUNG_UP_WITHIN):
            await asyncio.gather(*(shard.disconnect() for shard in client.shards.values()))
