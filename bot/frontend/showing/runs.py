"""Following runs of the agent to their end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

from bot.agent import AgentRun
from bot.events import Event
from bot.frontend.ids import place_of
from bot.frontend.showing.follower import Follower
from bot.frontend.showing.outbox import Outbox
from bot.frontend.showing.preview import Previews
from bot.frontend.showing.reconcile import Reconciler
from bot.frontend.showing.trouble import Outage
from bot.frontend.showing.typing_sign import TypingSign
from bot.frontend.tasks import Tasks
from bot.monitoring import Metrics
from bot.sessions import SessionStore


class Runs:
    """Follows runs to their end, each in a task of its own.

    `elsewhere` is told of sessions in which another run, perhaps of another process, was first.
    """

    def __init__(
        self,
        *,
        store: SessionStore,
        outbox: Outbox,
        outage: Outage,
        previews: Previews,
        reconciler: Reconciler,
        tasks: Tasks,
        elsewhere: Callable[[str], None],
        metrics: Metrics,
    ) -> None:
        self._store = store
        self._outbox = outbox
        self._outage = outage
        self._previews = previews
        self._reconciler = reconciler
        self._tasks = tasks
        self._elsewhere = elsewhere
        self._metrics = metrics

    async def begin(self, session_id: str, run: AgentRun) -> Event:
        """Start to follow a run; return its first event, when that is on disk.

        Raises:
            ParleyError: what the run raises instead of beginning.
        """
        first: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self._tasks.start(self._begin(session_id, run, first), name=f"run of {session_id}")
        return await first

    def reconcile(self, session_id: str) -> None:
        """Show what was recorded without a run."""
        self._reconciler.wake(session_id)

    def start(self, session_id: str, run: AgentRun) -> None:
        """Follow a run that nobody waits for."""
        self._tasks.start(self.follow(session_id, run), name=f"run of {session_id}")

    async def follow(
        self, session_id: str, run: AgentRun, first: asyncio.Future[Event] | None = None
    ) -> None:
        """Follow a run to its end; `first` is told its first event."""
        follower = self._follower(session_id)
        try:
            async with aclosing(aiter(run)) as events:
                async for event in events:
                    if first is not None and not first.done():
                        first.set_result(event)
                    await follower.see(event)
        finally:
            follower.leave()

    async def _begin(self, session_id: str, run: AgentRun, first: asyncio.Future[Event]) -> None:
        try:
            await self.follow(session_id, run, first)
        except Exception as exc:
            if first.done():
                raise
            first.set_exception(exc)
        finally:
            first.cancel()

    def _follower(self, session_id: str) -> Follower:
        place = place_of(session_id)
        if place is None:
            raise ValueError(f"{session_id!r} is not a place in Discord")
        return Follower(
            session_id,
            place.channel_id,
            store=self._store,
            outage=self._outage,
            previews=self._previews,
            reconciler=self._reconciler,
            elsewhere=self._elsewhere,
            sign=TypingSign(lambda: self._outbox.typing(place.channel_id), self._tasks),
            metrics=self._metrics,
        )
