"""Going on, after a start, with what an ended process left open."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Protocol

from bot.agent import Agent
from bot.errors import StorageError
from bot.failpoints import around
from bot.frontend.ids import place_of
from bot.frontend.shards import Shards
from bot.frontend.showing.reconcile import Reconciler
from bot.frontend.showing.runs import Runs
from bot.sessions.stores.homes import HomeStore
from bot.sessions.stores.rests import Found, RestStore

logger = logging.getLogger(__name__)

AT_ONCE = 8
PAGE = 2000


class Pages(Protocol):
    """Reads sessions in pages, in the order of their ids."""

    async def __call__(
        self, shown_by: str, now: datetime, /, *, after: str, limit: int
    ) -> Sequence[Found]:
        """Return one page after an id."""
        ...


class Recovery:
    """Shows what was not shown, and answers what was not answered; so many sessions at once.

    Sessions that rest are not read: they are woken when it is time.

    Args:
        expect: Wakes a session at a time.
        shown_by: Names how sessions are shown here.
    """

    def __init__(
        self,
        *,
        agent: Agent,
        rests: RestStore,
        runs: Runs,
        reconciler: Reconciler,
        expect: Callable[[str, datetime], None],
        shown_by: str,
        failed: Callable[[], None],
        homes: HomeStore,
        shards: Shards,
    ) -> None:
        self._agent = agent
        self._rests = rests
        self._runs = runs
        self._reconciler = reconciler
        self._expect = expect
        self._shown_by = shown_by
        self._failed = failed
        self._homes = homes
        self._shards = shards
        self._servers: dict[str, int] = {}

    async def recover(self) -> None:
        """Go through all sessions that are behind or open; again, if they cannot be read.

        All are found first: one that others bring to rest meanwhile is not passed over. Nor is one
        whose time comes meanwhile: all are looked at as they are at one moment.
        """
        now = self._reconciler.now()
        try:
            with around("recovery"):
                behind = [each.session_id async for each in self._found(self._rests.behind, now)]
                unanswered = [each.session_id async for each in self._found(self._rests.open, now)]
                async for each in self._found(self._rests.resting, now):
                    self._wait_for(each)
                await _each(behind, self._reconcile)
                await _each(unanswered, self._resume)
        except* StorageError as group:
            logger.error("what is open cannot be read: %s", group.exceptions[0])  # noqa: TRY400
            self._failed()

    async def _found(self, read: Pages, now: datetime) -> AsyncIterator[Found]:
        """Give those of Discord and of our shards among sessions that come in pages."""
        after = ""
        while page := await read(self._shown_by, now, after=after, limit=PAGE):
            for found in page:
                if place_of(found.session_id) is not None and self._shards.has(found.server_id):
                    yield found
            after = page[-1].session_id

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

    def _wait_for(self, found: Found) -> None:
        if found.wake_at is not None:
            self._expect(found.session_id, found.wake_at)

    async def _reconcile(self, session_id: str) -> None:
        self._reconciler.wake(session_id)
        await self._reconciler.caught_up(session_id)

    async def _resume(self, session_id: str) -> None:
        await self._runs.follow(session_id, self._agent.resume(session_id))


async def _each(session_ids: Iterable[str], work: Callable[[str], Awaitable[None]]) -> None:
    """Do something for each session, several at once; begun in their order."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(session_id: str) -> None:
        try:
            await work(session_id)
        except Exception:
            logger.exception("%s could not be continued", session_id)
        finally:
            slots.release()

    async with asyncio.TaskGroup() as group:
        for session_id in session_ids:
            await slots.acquire()
            group.create_task(one(session_id))
