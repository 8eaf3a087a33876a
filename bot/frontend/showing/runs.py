"""Following runs of the agent to their end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import TypeGuard

from bot.agent import AgentRun
from bot.errors import StorageError
from bot.events import ErrorEvent, Event
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

logger = logging.getLogger(__name__)


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
        return await self._first(session_id, run, by_hand=False)

    async def begin_by_hand(self, session_id: str, run: AgentRun) -> Event:
        """Do the same for what somebody pressed or commanded, and can try again.

        Raises:
            StorageError: if the log could not be read or written; nobody else is told.
            ParleyError: what the run raises instead of beginning.
        """
        first = await self._first(session_id, run, by_hand=True)
        if _is_outage(first):
            raise StorageError(f"nothing was begun in {session_id}, see [{first.reference}]")
        return first

    def reconcile(self, session_id: str) -> None:
        """Show what was recorded without a run."""
        self._reconciler.wake(session_id)

    def start(self, session_id: str, run: AgentRun) -> None:
        """Follow a run that nobody waits for."""
        self._tasks.start(self.follow(session_id, run), name=f"run of {session_id}")

    async def follow(self, session_id: str, run: AgentRun) -> None:
        """Follow a run to its end."""
        await self._follow(session_id, run, lambda event: True)

    async def _follow(
        self, session_id: str, run: AgentRun, is_shown: Callable[[Event], bool]
    ) -> None:
        follower = self._follower(session_id)
        try:
            async with aclosing(aiter(run)) as events:
                async for event in events:
                    if is_shown(event):
                        await _see(follower, event)
        finally:
            follower.leave()

    async def _first(self, session_id: str, run: AgentRun, *, by_hand: bool) -> Event:
        first: asyncio.Future[Event] = asyncio.get_running_loop().create_future()

        def is_shown(event: Event) -> bool:
            if first.done():
                return True
            first.set_result(event)
            if by_hand and _is_outage(event):
                self._outage.note()
                return False
            return True

        begun = self._begin(session_id, run, first, is_shown)
        self._tasks.start(begun, name=f"run of {session_id}")
        return await first

    async def _begin(
        self,
        session_id: str,
        run: AgentRun,
        first: asyncio.Future[Event],
        is_shown: Callable[[Event], bool],
    ) -> None:
        try:
            await self._follow(session_id, run, is_shown)
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


async def _see(follower: Follower, event: Event) -> None:
    """Show an event, if that can be done: a run does not end for what nobody sees of it."""
    try:
        await follower.see(event)
    except StorageError as exc:
        logger.warning("an event of a run is not shown: %s", exc)


def _is_outage(event: Event) -> TypeGuard[ErrorEvent]:
    """Return whether it tells that the log cannot be read or written."""
    return isinstance(event, ErrorEvent) and not event.turn_id
