"""Going, after each new connection, through the places where something was missed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import chain, repeat

import discord

from bot.errors import StorageError
from bot.events import utc_now
from bot.frontend.hearing.arrivals import Arrivals
from bot.frontend.hearing.missed import Channel
from bot.frontend.tasks import Tasks
from bot.sessions.stores.places import PlaceStore

logger = logging.getLogger(__name__)

AT_ONCE = 4  # places
RETRY_AFTER = (1.0, 5.0, 25.0, 60.0)  # seconds, for places that could not be read
RECENT, MOST_DMS = timedelta(days=7), 200


class CatchUp:
    """Catches up so many places at once, whenever something wakes it, until none is behind."""

    def __init__(
        self, *, client: discord.Client, arrivals: Arrivals, places: PlaceStore, tasks: Tasks
    ) -> None:
        self._client = client
        self._arrivals = arrivals
        self._places = places
        self._tasks = tasks
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Look soon for what was missed, everywhere."""
        self._woken.set()
        self.retry()

    def retry(self) -> None:
        """Look again after a while at places that are behind."""
        if self._task is None or self._task.done():
            self._task = self._tasks.task(self._work(), name="catching up")

    def doubt(self, guild: discord.Guild) -> None:
        """Look soon for what was missed in a server that was not there for a while."""
        for channel in _channels(guild):
            self._arrivals.doubt(channel.id)
        self.wake()

    async def _work(self) -> None:
        delays = chain(RETRY_AFTER, repeat(RETRY_AFTER[-1]))
        while self._woken.is_set() or self._arrivals.behind:
            if not self._woken.is_set():
                await self._wait(next(delays))
            self._woken.clear()
            await self._sweep()

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()

    async def _sweep(self) -> None:
        slots = asyncio.Semaphore(AT_ONCE)

        async def one(channel: Channel) -> None:
            try:
                await self._arrivals.catch_up(channel)
            finally:
                slots.release()

        async with asyncio.TaskGroup() as group:
            for channel in await self._doubtful():
                await slots.acquire()
                group.create_task(one(channel))

    async def _doubtful(self) -> list[Channel]:
        """Return the places that may have been missed something of, channels before threads."""
        channels = [each for guild in self._client.guilds for each in _channels(guild)]
        places: dict[int, Channel] = {each.id: each for each in (*channels, *await self._direct())}
        places |= self._arrivals.behind
        return [each for each in places.values() if self._arrivals.is_behind(each)]

    async def _direct(self) -> list[discord.PartialMessageable]:
        """Return the DMs of recent conversations; no event tells what was missed in them."""
        try:
            ids = await self._places.direct(since=utc_now() - RECENT, limit=MOST_DMS)
        except StorageError as exc:
            logger.warning("recent direct messages are not known: %s", exc)
            return []
        return [self._client.get_partial_messageable(each) for each in ids]


def _channels(guild: discord.Guild) -> Iterator[Channel]:
    """Give the places of a server in which people write."""
    yield from guild.text_channels
    yield from guild.voice_channels
    yield from guild.stage_channels
    yield from guild.threads
