"""Going on, after a start, with what an ended process left open."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

from bot.agent import Agent
from bot.errors import StorageError
from bot.failpoints import around
from bot.frontend.ids import place_of
from bot.frontend.shards import Shards
from bot.frontend.showing.reconcile import Reconciler
from bot.frontend.showing.runs import Runs
from bot.sessions import SessionStore
from bot.sessions.deliveries import DeliveryStore
from bot.sessions.homes import HomeStore

logger = logging.getLogger(__name__)

AT_ONCE = 8
PAGE = 500


class Recovery:
    """Shows what was not shown, and answers what was not answered; so many sessions at once."""

    def __init__(
        self,
        *,
        agent: Agent,
        store: SessionStore,
        deliveries: DeliveryStore,
        runs: Runs,
        reconciler: Reconciler,
        failed: Callable[[], None],
        homes: HomeStore,
        shards: Shards,
    ) -> None:
        self._agent = agent
        self._store = store
        self._deliveries = deliveries
        self._runs = runs
        self._reconciler = reconciler
        self._failed = failed
        self._homes = homes
        self._shards = shards
        self._servers: dict[str, int] = {}

    async def recover(self) -> None:
        """Go through all sessions that are behind or open; again, if they cannot be read."""
        try:
            with around("recovery"):
                await _each(self._ours(self._behind), self._reconcile)
                await _each(self._ours(self._open), self._resume)
        except* StorageError as group:
            logger.error("what is open cannot be read: %s", group.exceptions[0])  # noqa: TRY400
            self._failed()

    async def _ours(self, read: Callable[[str], Awaitable[Sequence[str]]]) -> AsyncIterator[str]:
        """Give those of our shards among sessions that come in pages."""
        async for session_id in _pages(read):
            if await self.is_ours(session_id):
                yield session_id

    async def ours(self, session_ids: Iterable[str]) -> AsyncIterator[str]:
        """Give those of Discord and of our shards among sessions."""
        for session_id in session_ids:
            if place_of(session_id) is not None and await self.is_ours(session_id):
                yield session_id

    async def is_ours(self, session_id: str) -> bool:
        """Return whether a session is on a shard of ours."""
        return self._shards.all or self._shards.has(await self._server(session_id))

    async def _server(self, session_id: str) -> int | None:
        """Return the server that a session is in; without one, whoever has the DMs goes on."""
        if session_id not in self._servers:
            home = await self._homes.of(session_id)
            if home is None:
                return None
            self._servers[session_id] = home.server_id  # no session moves to another server
        return self._servers[session_id]

    async def _behind(self, after: str) -> Sequence[str]:
        return await self._deliveries.behind(after=after, limit=PAGE)

    async def _open(self, after: str) -> Sequence[str]:
        return await self._store.open_sessions(after=after, limit=PAGE)

    async def _reconcile(self, session_id: str) -> None:
        self._reconciler.wake(session_id)
        await self._reconciler.caught_up(session_id)

    async def _resume(self, session_id: str) -> None:
        await self._runs.follow(session_id, self._agent.resume(session_id))


async def _pages(read: Callable[[str], Awaitable[Sequence[str]]]) -> AsyncIterator[str]:
    """Give the sessions of Discord among the ids that come in pages."""
    page = await read("")
    while page:
        for session_id in page:
            if place_of(session_id) is not None:
                yield session_id
        page = await read(page[-1])


async def _each(session_ids: AsyncIterator[str], work: Callable[[str], Awaitable[None]]) -> None:
    """Do something for each session, several at once; begun in the order of the ids."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(session_id: str) -> None:
        try:
            await work(session_id)
        except Exception:
            logger.exception("%s could not be continued", session_id)
        finally:
            slots.release()

    async with asyncio.TaskGroup() as group:
        async for session_id in session_ids:
            await slots.acquire()
            group.create_task(one(session_id))
