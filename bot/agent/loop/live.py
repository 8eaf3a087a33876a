"""The one live session of an id in this process, and the one way to write to it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AbstractContextManager

from bot.agent.loop.closing import Shown
from bot.agent.loop.heeding import Heeding
from bot.agent.loop.interrupts import Interrupts, finished
from bot.agent.loop.lease import SessionLease
from bot.agent.loop.steps import goes_on
from bot.agent.loop.turns import Turns
from bot.agent.loop.working_copy import MayContinue, OnRecorded, WorkingCopy
from bot.errors import AccessDeniedError, SessionConflictError
from bot.events import RecordedEvent
from bot.sessions import Session, SessionManager, SessionStore

Decide = Callable[[Session], Sequence[RecordedEvent]]


class LiveSession:
    """A session in use.

    Attributes:
        turns: Who answers it now, and who waits for which turn.
        lease: Which process runs it.
        shown: What readers have seen of the model call in progress.
        interrupts: Ends what the run in progress awaits.
        answered: The turn that the run in progress answers, once it has begun with one.
        compacting: Held while it is compacted.
    """

    def __init__(
        self,
        session_id: str,
        manager: SessionManager,
        on_recorded: OnRecorded = lambda session_id, events: None,
    ) -> None:
        self.session_id = session_id
        self.shown: Shown | None = None
        self.interrupts = Interrupts()
        self.answered = ""
        self.compacting = asyncio.Lock()
        self._manager = manager
        self._on_recorded = on_recorded
        self._copy = WorkingCopy(session_id, manager, on_recorded)
        self._heeding = Heeding(self._copy)
        self.turns = Turns(self._copy)
        self.lease = SessionLease(self._copy)

    # -- reading -----------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether it has been read."""
        return self._copy.is_open

    @property
    def session(self) -> Session:
        """The session, which `open` has read."""
        return self._copy.session

    async def open(self) -> Session:
        """Read the session, if what is here is not current.

        Raises:
            AccessDeniedError: if there is none.
        """
        async with self._copy.lock:
            return await self._copy.read()

    async def admit(self, user_id: str | None, may_continue: MayContinue) -> Session:
        """Read the session for somebody, made if need be and if they may.

        Raises:
            AccessDeniedError: if they may not.
        """
        async with self._copy.lock:
            return await self._copy.admit(user_id, may_continue)

    def heard(self, after: int) -> AbstractContextManager[list[RecordedEvent]]:
        """Give a list to which everything recorded is added, from after an event on."""
        return self._copy.heard(after)

    # -- answering ---------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def driving(self, turn_id: str | None) -> AsyncIterator[None]:
        """Be the one who answers, once it is this turn's moment, and heed other processes."""
        async with self.turns.driving(turn_id):
            self.interrupts, self.answered = Interrupts(), ""
            with self._copy.news(self._noticed):
                async with self._heeding.always():
                    yield

    async def look(self) -> None:
        """Read the session again, if other processes have recorded something in it."""
        with self._copy.news(self._noticed):
            await self._heeding.look()

    def _noticed(self) -> None:
        """Tell of what other processes have recorded, and end what they have ended."""
        self.turns.changed()
        self._on_recorded(self.session_id, ())
        if self.answered and not goes_on(self.session, self.answered):
            self.interrupts.interrupt()

    # -- writing -----------------------------------------------------------------------------------

    async def record(self, decide: Decide, *, take: str | None = None) -> Sequence[RecordedEvent]:
        """Append and save what `decide` says of the stored session; return it as recorded.

        After a conflict `decide` is asked again. Whoever is cancelled meanwhile is cancelled
        after the save. Who goes on with the session then may name themselves by `take`: they have
        its lease then, if it was free and there is something to do.

        Raises:
            AccessDeniedError: if the session was deleted, or there was none and others made it:
                who goes on with it is admitted anew.
        """
        try:
            return await finished(self._record(decide, take))
        finally:
            self.turns.changed()

    async def _record(self, decide: Decide, take: str | None) -> Sequence[RecordedEvent]:
        async with self._copy.lock:
            return await self._write(decide, take)

    async def _write(self, decide: Decide, take: str | None = None) -> Sequence[RecordedEvent]:
        while True:
            session = await self._copy.read()
            draft = session.draft()
            recorded = draft.append(*decide(session))
            try:
                if recorded:
                    await self._copy.save(draft, take=take)
            except SessionConflictError:
                if not draft.version:
                    raise AccessDeniedError(f"others have begun {self.session_id!r}") from None
                continue
            self._copy.become(draft, recorded)
            return recorded

    async def erase(self, turn_ids: Collection[str] | None, ends: Decide) -> None:
        """Record `ends`, and erase these turns, or all: nothing comes in between.

        Raises:
            ValueError: if one of them is open after that.
        """
        await self._end(ends, lambda store: store.erase(self.session, turn_ids))

    async def forget(self, user_id: str) -> None:
        """Erase the turns in which somebody wrote, of those that have ended.

        Where nobody else wrote, and none is open, all there is.
        """
        await self._end(lambda session: (), lambda store: self._forget(store, user_id))

    async def _forget(self, store: SessionStore, user_id: str) -> None:
        # What others save once this is read makes the erasure a conflict.
        authors = await store.authors(self.session_id)
        if authors.keys() <= {user_id} and not self.session.open_turns:
            await store.erase(self.session, None)
            return
        turns = await store.turns_of(self.session_id, user_id)
        ended = [each for each in turns if not self.session.is_open(each)]
        await store.erase(self.session, ended)

    async def unquote(self, user_id: str) -> None:
        """Erase what messages quote of somebody."""
        await self._end(lambda session: (), lambda store: store.unquote(self.session, user_id))

    async def delete(self, ends: Decide) -> None:
        """Record `ends`, and delete the session; who continues it later begins another."""
        await self._end(ends, lambda store: store.delete(self.session_id))

    async def _end(self, ends: Decide, work: Callable[[SessionStore], Awaitable[object]]) -> None:
        if not isinstance(self._manager, SessionStore):
            raise TypeError("this session manager forgets nothing")
        try:
            await finished(self._ended(self._manager, ends, work))
        finally:
            self.turns.changed()

    async def _ended(
        self,
        store: SessionStore,
        ends: Decide,
        work: Callable[[SessionStore], Awaitable[object]],
    ) -> None:
        async with self._copy.lock:
            while True:
                await self._write(ends)
                try:
                    await work(store)
                except SessionConflictError:
                    continue
                else:
                    return
                finally:
                    self._copy.outdate()
