"""The one live session of an id in this process, and the one way to write to it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterator,
    Sequence,
)
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from bot.agent.loop.closing import Shown
from bot.agent.loop.interrupts import Interrupts
from bot.agent.loop.steps import Done, Wait, goes_on, next_step
from bot.errors import AccessDeniedError, SessionConflictError, StorageError
from bot.events import RecordedEvent
from bot.sessions import Lease, Session, SessionManager, SessionStore

T = TypeVar("T")

HEED_EVERY = 2.0
"""Seconds after which a run looks for what other processes have recorded, if it heard of none."""

MayContinue = Callable[[Session, str | None], bool]
OnRecorded = Callable[[str, Sequence[RecordedEvent]], None]
Decide = Callable[[Session], Sequence[RecordedEvent]]


class LiveSession:
    """A session in use: its lock, who answers it now, and who waits for which turn.

    Attributes:
        shown: What readers have seen of the model call in progress.
        interrupts: Ends what the run in progress awaits.
        answered: The turn that the run in progress answers.
        compacting: Held while it is compacted.
    """

    def __init__(
        self,
        session_id: str,
        manager: SessionManager,
        on_recorded: OnRecorded = lambda session_id, events: None,
    ) -> None:
        self.session_id = session_id
        self._on_recorded = on_recorded
        self.shown: Shown | None = None
        self.interrupts = Interrupts()
        self.compacting = asyncio.Lock()
        self._manager = manager
        self._session: Session | None = None
        self._is_current = False
        self._lock = asyncio.Lock()
        self._changed = Changes()
        self._driven = False
        self._driver: asyncio.Task[object] | None = None
        self._awaited: list[str] = []
        self._heard: list[list[RecordedEvent]] = []
        self._holder: str | None = None
        self.answered = ""

    # -- reading -----------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The session, which `open` has read."""
        assert self._session is not None  # noqa: S101 - everybody opens it first
        return self._session

    async def open(self) -> Session:
        """Read the session, if what is here is not current.

        Raises:
            AccessDeniedError: if there is none.
        """
        async with self._lock:
            return await self._read()

    async def admit(self, user_id: str | None, may_continue: MayContinue) -> Session:
        """Read the session for somebody, made if need be and if they may.

        Raises:
            AccessDeniedError: if they may not.
        """
        async with self._lock:
            try:
                session = await self._read()
            except AccessDeniedError:
                session = Session(self.session_id, user_id)
            if not may_continue(session, user_id):
                raise AccessDeniedError(f"you may not continue the session {self.session_id!r}")
            if not self._is_current:
                self._take(await self._manager.get_or_create(self.session_id, user_id))
            return self.session

    async def _read(self) -> Session:
        if self._session is None or not self._is_current:
            stored = await self._manager.get(self.session_id)
            if stored is None:
                raise AccessDeniedError(f"there is no session {self.session_id!r} for you")
            self._take(stored)
        return self.session

    def _take(self, stored: Session) -> None:
        """Keep one object a session, so that nobody is left with an old one."""
        if self._session is None:
            self._session = stored
        else:
            known = self._session.last_seq
            self._session.adopt(stored)
            self._tell(stored.since(known + 1))
        self._is_current = True

    @contextlib.contextmanager
    def heard(self, after: int) -> Iterator[list[RecordedEvent]]:
        """Give a list to which everything recorded is added, from after an event on.

        What a reset takes out of the window right after it was recorded is in it too.
        """
        heard = list(self.session.since(after + 1))
        self._heard.append(heard)
        try:
            yield heard
        finally:
            self._heard = [each for each in self._heard if each is not heard]

    def _tell(self, recorded: Sequence[RecordedEvent]) -> None:
        for heard in self._heard:
            heard.extend(recorded)

    # -- writing -----------------------------------------------------------------------------------

    async def record(self, decide: Decide) -> Sequence[RecordedEvent]:
        """Append and save what `decide` says of the stored session; return it as recorded.

        After a conflict `decide` is asked again. Whoever is cancelled meanwhile is cancelled
        after the save.
        """
        try:
            return await _finished(self._record(decide))
        finally:
            self._changed.tell()

    async def _record(self, decide: Decide) -> Sequence[RecordedEvent]:
        async with self._lock:
            return await self._write(decide)

    async def _write(self, decide: Decide) -> Sequence[RecordedEvent]:
        while True:
            session = await self._read()
            draft = session.draft()
            recorded = draft.append(*decide(session))
            try:
                if recorded:
                    await self._save(draft)
            except BaseException as exc:
                self._is_current = False
                if not isinstance(exc, SessionConflictError):
                    raise
            else:
                self._become(draft, recorded)
                return recorded

    async def erase(self, turn_ids: Collection[str] | None, ends: Decide) -> None:
        """Record `ends`, and erase these turns, or all: nothing comes in between.

        Raises:
            ValueError: if one of them is open after that.
        """
        await self._end(ends, lambda store: store.erase(self.session, turn_ids))

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
            await _finished(self._ended(self._manager, ends, work))
        finally:
            self._changed.tell()

    async def _ended(
        self,
        store: SessionStore,
        ends: Decide,
        work: Callable[[SessionStore], Awaitable[object]],
    ) -> None:
        async with self._lock:
            while True:
                await self._write(ends)
                try:
                    await work(store)
                except SessionConflictError:
                    continue
                else:
                    return
                finally:
                    self._is_current = False

    def _become(self, draft: Session, recorded: Sequence[RecordedEvent]) -> None:
        """Show what has been saved; a window that reaches further back is read again first."""
        self.session.become(draft)
        self._is_current = not draft.is_short
        self._tell(recorded)
        self._on_recorded(self.session_id, recorded)

    async def _save(self, session: Session) -> None:
        if not isinstance(self._manager, SessionStore):
            state = session.state_json()
            await self._manager.save(session)
            session.mark_saved(seq=session.last_seq, version=session.version, state=state)
            return
        idle = isinstance(next_step(session.unfinished()), Done | Wait)
        release = self._holder if idle else None
        await self._manager.save(session, release=release, rests=idle)
        if release:
            self._holder = None

    async def give_back(self) -> bool:
        """Give the lease back, if we hold it and the log has not moved; return whether we do not.

        Most often the save that closed the last turn, or began the wait, has done it already.
        """
        if self._holder is None:
            return True
        async with self._lock:
            draft = self.session.draft()
            try:
                await self._save(draft)
            except SessionConflictError:
                self._is_current = False
                await self._read()
            else:
                self._become(draft, ())
            return self._holder is None

    # -- who answers -------------------------------------------------------------------------------

    @contextlib.contextmanager
    def awaited(self, turn_id: str) -> Iterator[None]:
        """Say that somebody here waits for the answer of this turn."""
        self._awaited.append(turn_id)
        try:
            yield
        finally:
            self._awaited.remove(turn_id)
            self._changed.tell()

    def is_awaited(self, turn_id: str) -> bool:
        """Return whether somebody here waits for the answer of this turn."""
        return turn_id in self._awaited

    @property
    def is_open(self) -> bool:
        """Whether it has been read."""
        return self._session is not None

    @property
    def has_more(self) -> bool:
        """Whether we hold the lease, and a turn is open that nobody here waits for."""
        if self._holder is None or self._driven:
            return False
        step = next_step(self.session.unfinished())
        return not isinstance(step, Done | Wait) and not self.is_awaited(step.turn_id)

    @property
    def is_driven_by_caller(self) -> bool:
        """Whether it is the asking task itself that answers the session now."""
        return self._driver is not None and self._driver is asyncio.current_task()

    @property
    def is_driven(self) -> bool:
        """Whether somebody here answers the session now."""
        return self._driven

    async def turn_comes(self, turn_id: str) -> bool:
        """Wait until it is this turn's moment; return `False` once the session waits for people."""
        await self._changed.until(lambda: self.session.waits or self._may_drive(turn_id))
        return not self.session.waits

    @contextlib.asynccontextmanager
    async def driving(self, turn_id: str | None) -> AsyncIterator[None]:
        """Wait until it is this turn's moment, and be the one who answers.

        A turn comes after those before it that somebody here waits for.
        """
        await self._changed.until(lambda: self._may_drive(turn_id))
        self._driven = True
        self._driver = asyncio.current_task()
        self.interrupts = Interrupts()
        try:
            async with self._heeding():
                yield
        finally:
            self._driven = False
            self._driver = None
            self._changed.tell()

    @contextlib.asynccontextmanager
    async def _heeding(self) -> AsyncIterator[None]:
        """Notice, while the block lasts, what other processes record in the session."""
        if not isinstance(self._manager, SessionStore) or not self._manager.is_shared:
            yield
            return
        task = asyncio.create_task(self._heed_always(self._manager), name="heeding others")
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([task])

    async def _heed_always(self, store: SessionStore) -> None:
        with store.hearing(self.session_id) as heard:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(HEED_EVERY):
                        await heard.wait()
                heard.clear()
                # the run meets it itself
                with contextlib.suppress(StorageError, AccessDeniedError):
                    await self._heed(store)

    async def look(self) -> None:
        """Read the session again, if other processes have recorded something in it."""
        if isinstance(self._manager, SessionStore) and self._manager.is_shared:
            await self._heed(self._manager)

    async def is_run_elsewhere(self) -> bool:
        """Return whether another living process holds the lease."""
        if self._holder is not None or not isinstance(self._manager, SessionStore):
            return False
        return await self._manager.is_run_elsewhere(self.session_id)

    async def _heed(self, store: SessionStore) -> None:
        """Look whether others have recorded something, and end what they have ended."""
        standing = await store.standing(self.session_id)
        if standing is None:
            return
        async with self._lock:
            if standing.holder not in (None, self._holder):
                self._holder = None  # it has been taken over
            if standing.version <= self.session.version:
                return
            self._is_current = False
            await self._read()
        self._changed.tell()
        self._on_recorded(self.session_id, ())
        if self.answered and not goes_on(self.session, self.answered):
            self.interrupts.interrupt()

    def _may_drive(self, turn_id: str | None) -> bool:
        if self._driven:
            return False
        turns = [turn.turn_id for turn in self.session.open_turns]
        before = turns[: turns.index(turn_id)] if turn_id in turns else []
        return not any(self.is_awaited(earlier) for earlier in before)

    @property
    def is_leased(self) -> bool:
        """Whether we hold the lease, where there are leases."""
        return self._holder is not None or not isinstance(self._manager, SessionStore)

    async def take_lease(self, holder: str) -> Lease | None:
        """Become the one process that runs this session; return `None` if another is.

        Where the session manager knows no leases nobody else is.
        """
        if not isinstance(self._manager, SessionStore) or self._holder is not None:
            return Lease(taken=True, version=self.session.version, holder=holder)
        lease = await _finished(self._take_lease(self._manager, holder))
        return lease if lease.taken else None

    async def _take_lease(self, store: SessionStore, holder: str) -> Lease:
        async with self._lock:
            lease = await store.lease(self.session_id, holder)
            if lease.taken:
                self._holder = holder
            if lease.version != self.session.version:
                self._is_current = False
                await self._read()
            return lease


class LiveSessions:
    """The live sessions of a session manager; one an id, for as long as somebody uses it."""

    def __init__(
        self, manager: SessionManager, on_recorded: OnRecorded = lambda session_id, events: None
    ) -> None:
        self._manager = manager
        self._on_recorded = on_recorded
        self._live: WeakValueDictionary[str, LiveSession] = WeakValueDictionary()

    def __getitem__(self, session_id: str) -> LiveSession:
        live = self._live.get(session_id)
        if live is None:
            live = self._live[session_id] = LiveSession(
                session_id, self._manager, self._on_recorded
            )
        return live


class Changes:
    """Wakes whoever waits for something to become true, whenever something has changed."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Return once this holds; nothing else runs between that moment and the return."""
        while not holds():
            change = asyncio.get_running_loop().create_future()
            self._waiting.add(change)
            try:
                await change
            finally:
                self._waiting.discard(change)

    def tell(self) -> None:
        """Let everybody look again."""
        for change in self._waiting:
            if not change.done():
                change.set_result(None)


async def _finished(work: Coroutine[Any, Any, T]) -> T:
    """Await something to its end, even when cancelled meanwhile; then go on being cancelled."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        with contextlib.suppress(asyncio.CancelledError):
            task.exception()  # seen; what counts now is that the caller is cancelled
        raise
