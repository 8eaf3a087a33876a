"""Answering the open turns of a session, in this process' name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from bot.agent.loop.closing import end_turn
from bot.agent.loop.failures import failure_of
from bot.agent.loop.live import LiveSession
from bot.agent.loop.loop import Loop, stopped
from bot.agent.parts import Parts
from bot.agent.run import Outcome
from bot.errors import StorageError
from bot.events import DoneEvent, ErrorEvent, Event, RunStatus, new_id
from bot.sessions import SessionManager, SessionStore

Events = AsyncGenerator[Event, None]


class Driver:
    """Goes on with sessions, for a run or for nobody.

    Attributes:
        suspended: Whether a run that is left early leaves its turn open.
        on_outage: Called when what nobody reads here ended since the log could not be read or
            written; its turn is open.
    """

    def __init__(self, parts: Parts) -> None:
        self.suspended = False
        self.on_outage: Callable[[], None] = lambda: None
        self._parts = parts
        self._holder = Holder(parts.manager)
        self._tasks: set[asyncio.Task[None]] = set()

    async def name(self) -> str:
        """Return the name under which this process runs sessions."""
        return await self._holder.name()

    async def drive(
        self,
        outcome: Outcome,
        live: LiveSession,
        *,
        told: int,
        mine: str | None = None,
        recovering: bool = False,
    ) -> Events:
        """Answer open turns, unless another process does.

        A turn that was cut off is noted as continued; where there are no leases to tell, a
        resumption (`recovering`) says so.
        """
        if live.turns.is_driven_by_caller:
            return  # it reads a run of this session, and goes on with that one
        holder = await self.name()
        await self._parts.definitions()
        async with live.driving(mine):
            lease = await live.lease.take(holder)
            if lease is None:
                return
            recovering = lease.interrupted or (recovering and not self._holder.has_leases)
            loop = Loop(self._parts, live, mine=mine, holder=holder, told=told)
            try:
                async with aclosing(loop.events(recovering=recovering)) as events:
                    async for event in events:
                        yield event
            except (GeneratorExit, asyncio.CancelledError):
                await self.left(live, mine or loop.turn_id or outcome.turn_id)
                raise
            outcome.turn_id = loop.turn_id or outcome.turn_id
            outcome.error, outcome.seen = loop.error, loop.seen

    async def left(self, live: LiveSession, turn_id: str) -> None:
        """End the turn of a run that was left early, unless the process is ending."""
        if turn_id and not self.suspended:
            shown = live.shown
            await live.record(lambda s: end_turn(s, stopped(turn_id), by="the reader", shown=shown))

    def go_on(self, live: LiveSession) -> None:
        """Answer what other processes left to us while we held the lease; nobody reads it here."""
        if live.turns.has_more and not self.suspended:
            task = asyncio.create_task(self._answer_rest(live), name=f"rest of {live.session_id}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer_rest(self, live: LiveSession) -> None:
        rest = self.drive(Outcome(), live, told=live.session.last_seq)
        async with aclosing(told_failures(Outcome(), live.session_id, rest)) as events:
            async for event in events:
                if isinstance(event, ErrorEvent) and not event.turn_id:
                    self.on_outage()

    async def end(self) -> None:
        """End what nobody reads, and leave its turns open for the next start."""
        suspended, self.suspended = self.suspended, True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.suspended = suspended

    def forget(self) -> None:
        """Forget who we are; the session manager has been closed."""
        self._holder.forget()


class Holder:
    """The name under which this process holds leases."""

    def __init__(self, manager: SessionManager) -> None:
        self._manager = manager
        self._name = ""
        self._registering = asyncio.Lock()

    @property
    def has_leases(self) -> bool:
        """Whether there are any."""
        return isinstance(self._manager, SessionStore)

    async def name(self) -> str:
        """Return it; the session manager gives it when it is asked first."""
        async with self._registering:
            self._name = self._name or await self._registered()
            return self._name

    async def _registered(self) -> str:
        manager = self._manager
        return await manager.register() if isinstance(manager, SessionStore) else new_id("holder")

    def forget(self) -> None:
        """Have it given anew."""
        self._name = ""


async def told_failures(outcome: Outcome, session_id: str, events: Events) -> Events:
    """Give a run's events; a storage that fails is told like any failure."""
    try:
        async with aclosing(events):
            async for event in events:
                yield event
    except StorageError as exc:
        outcome.error = exc
        yield failure_of(exc, session_id=session_id).event("")
        yield DoneEvent(session_id=session_id, status=RunStatus.FAILED)
