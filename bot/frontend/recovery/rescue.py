"""Going on with what another process was at, once that process is gone.

While two processes serve the same shard, as in a deploy, both hear of everything, and one does
something about it. The other one minds what it left to the first, until it is done.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from contextlib import suppress

from bot.agent import Agent
from bot.agent.loop.steps import Done, Wait, next_step
from bot.errors import StorageError
from bot.frontend.showing.reconcile import Reconciler
from bot.frontend.showing.runs import Runs
from bot.sessions import SQLSessionManager

logger = logging.getLogger(__name__)

Ours = Callable[[Iterable[str]], AsyncIterable[str]]


class Rescue:
    """Minds the sessions of other processes.

    Args:
        ours: Gives those of our shards among sessions.
        recover: Does what a start does: called when another process has ended.
        ready: Returns once it is known which channels there are.
    """

    def __init__(
        self,
        *,
        agent: Agent,
        store: SQLSessionManager,
        runs: Runs,
        reconciler: Reconciler,
        ours: Ours,
        recover: Callable[[], None],
        ready: Callable[[], Awaitable[None]],
        every: float,
    ) -> None:
        self._agent = agent
        self._store = store
        self._runs = runs
        self._reconciler = reconciler
        self._ours = ours
        self._recover = recover
        self._ready = ready
        self._every = every
        self._at_work = frozenset[int]()
        self._minded: set[str] = set()

    def mind(self, session_id: str) -> None:
        """Note that another process may be at work in a session."""
        self._minded.add(session_id)

    async def keep_looking(self) -> None:
        """Look again and again, once it is ready, for those who end from now on."""
        with suppress(StorageError):
            self._at_work = await self._store.database.at_work()
        await self._ready()
        while True:
            await asyncio.sleep(self._every)
            minded, self._minded = self._minded, set()
            try:
                await self._look(minded)
                await self._look_for_ends()
            except StorageError as exc:
                self._minded |= minded
                logger.warning("what other processes left cannot be read: %s", exc)

    async def _look_for_ends(self) -> None:
        """Take over all that is known to nobody but a process that has ended.

        What it was about to show, for example, and when the requests expire that it has shown.
        """
        at_work = await self._store.database.at_work()
        ended, self._at_work = self._at_work - at_work, at_work
        if ended:
            self._recover()

    async def _look(self, minded: Iterable[str]) -> None:
        found = {*await self._store.abandoned(), *minded}
        async for session_id in self._ours(sorted(found)):
            if await self._store.is_run_elsewhere(session_id):
                self._minded.add(session_id)
            else:
                await self._go_on(session_id)

    async def _go_on(self, session_id: str) -> None:
        """Show what was not shown, and answer what was not answered."""
        self._reconciler.wake(session_id)
        session = await self._store.get(session_id)
        step = next_step(session.unfinished()) if session is not None else Done()
        if not isinstance(step, Done | Wait):
            self._runs.start(session_id, self._agent.resume(session_id))
