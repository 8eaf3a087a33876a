"""Knowing that Discord did something before discord.py tells.

discord.py keeps back who took the last of a rate limit until all of it is there again, though
Discord has answered and the screen shows it. What comes next, the next answer's first text for
example, would wait for nothing. The client's requests are listened to, so that it need not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from types import SimpleNamespace

import aiohttp

from bot.frontend.refusals import asked

# Set in the task that makes a request: aiohttp calls whoever listens from there.
_answered: ContextVar[asyncio.Event | None] = ContextVar("answered", default=None)


async def heard(
    session: aiohttp.ClientSession,
    context: SimpleNamespace,
    params: aiohttp.TraceRequestEndParams,
) -> None:
    """Take note of an answer; to be called at the end of every request."""
    answered = _answered.get()
    if answered is not None and params.response.status < 300:
        answered.set()


async def acknowledged(
    request: Callable[[], Awaitable[object]], lacking: Callable[[], str] = lambda: ""
) -> None:
    """Make a request of Discord of which nothing is needed but that it worked.

    Raises:
        DiscordError: the kind that says who can act.
    """
    answered = asyncio.Event()

    async def made() -> object:
        _answered.set(answered)
        return await request()

    def over(task: asyncio.Task[object]) -> None:
        """Wake whoever waits; and ask how it ended, lest asyncio complains that nobody did."""
        answered.set()
        if not task.cancelled():
            task.exception()

    asking = asyncio.create_task(asked(made, lacking), name="request of Discord")
    asking.add_done_callback(over)
    await answered.wait()
    if asking.done():
        asking.result()
