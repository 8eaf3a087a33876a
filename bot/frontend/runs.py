"""Following runs of the agent, and letting people see what they record."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing

from bot.agent.closing import answers
from bot.agent.run import AgentRun
from bot.errors import ParleyError
from bot.events import (
    DoneEvent,
    Event,
    RateLimitEvent,
    RecordedEvent,
    RunStatus,
    TextChunkEvent,
    ToolStartedEvent,
    UserMessageEvent,
)
from bot.frontend.ids import place_of
from bot.frontend.outbox import Outbox
from bot.frontend.preview import Preview, Previews, Subject
from bot.frontend.reconcile import Reconciler
from bot.frontend.tasks import Tasks
from bot.frontend.typing_sign import TypingSign
from bot.sessions import SessionStore

logger = logging.getLogger(__name__)

BUSY = "*One moment: the model is busy with others.*"
ELSEWHERE = {RunStatus.DUPLICATE, RunStatus.HANDED_OVER}


class Runs:
    """Follows runs to their end, each in a task of its own."""

    def __init__(
        self,
        *,
        store: SessionStore,
        outbox: Outbox,
        previews: Previews,
        reconciler: Reconciler,
        tasks: Tasks,
    ) -> None:
        self._store = store
        self._outbox = outbox
        self._previews = previews
        self._reconciler = reconciler
        self._tasks = tasks
        self._signs = Tasks()

    async def begin(self, session_id: str, run: AgentRun) -> Event:
        """Start to follow a run; return its first event, when that is on disk.

        Raises:
            ParleyError: what the run raises instead of beginning.
        """
        first: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self._tasks.start(self._follow(session_id, run, first), name=f"run of {session_id}")
        return await first

    def start(self, session_id: str, run: AgentRun) -> None:
        """Follow a run that nobody waits for."""
        self._tasks.start(self._follow(session_id, run, None), name=f"run of {session_id}")

    async def follow(self, session_id: str, run: AgentRun) -> None:
        """Follow a run to its end."""
        await self._follow(session_id, run, None)

    async def _follow(
        self, session_id: str, run: AgentRun, first: asyncio.Future[Event] | None
    ) -> None:
        follower = _Follower(self, session_id)
        try:
            async with aclosing(aiter(run)) as events:
                async for event in events:
                    if first is not None and not first.done():
                        first.set_result(event)
                    await follower.see(event)
        except Exception as exc:
            if first is None or first.done():
                raise
            first.set_exception(exc)
        finally:
            follower.leave()
            if first is not None:
                first.cancel()
