"""The copy of a stored session that everybody in this process reads."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence

from bot.agent.loop.steps import Done, Wait, next_step
from bot.errors import AccessDeniedError
from bot.events import RecordedEvent
from bot.sessions import Session, SessionManager, SessionStore

MayContinue = Callable[[Session, str | None], bool]
OnRecorded = Callable[[str, Sequence[RecordedEvent]], None]


class WorkingCopy:
    """A session as it was read or saved last; who reads or saves it holds its lock.

    Attributes:
        lock: Held while it is read or saved.
        holder: The name under which its lease is held here, if it is.
    """

    def __init__(self, session_id: str, manager: SessionManager, on_recorded: OnRecorded) -> None:
        self.session_id = session_id
        self.manager = manager
        self.lock = asyncio.Lock()
        self.holder: str | None = None
        self._on_recorded = on_recorded
        self._session: Session | None = None
        self._is_current = False
        self._heard: list[list[RecordedEvent]] = []
        self._told: list[Callable[[], None]] = []

    @property
    def is_open(self) -> bool:
        """Whether it has been read."""
        return self._session is not None

    @property
    def session(self) -> Session:
        """The session, once it has been read."""
        assert self._session is not None  # noqa: S101 - everybody opens it first
        return self._session

    # -- reading -----------------------------------------------------------------------------------

    async def read(self) -> Session:
        """Read the session, if what is here is not current.

        Raises:
            AccessDeniedError: if there is none.
        """
        if self._session is None or not self._is_current:
            stored = await self.manager.get(self.session_id)
            if stored is None:
                raise AccessDeniedError(f"there is no session {self.session_id!r} for you")
            self._take(stored)
        return self.session

    async def admit(self, user_id: str | None, may_continue: MayContinue) -> Session:
        """Read the session for somebody, made if need be and if they may.

        Raises:
            AccessDeniedError: if they may not.
        """
        try:
            session = await self.read()
        except AccessDeniedError:
            session = Session(self.session_id, user_id)
        if not may_continue(session, user_id):
            raise AccessDeniedError(f"you may not continue the session {self.session_id!r}")
        if not self._is_current:
            self._take(await self._made(session))
        return self.session

    async def _made(self, session: Session) -> Session:
        """Return a new session; a store keeps it with what is first saved in it."""
        if isinstance(self.manager, SessionStore):
            return session
        return await self.manager.get_or_create(session.session_id, session.user_id)

    def outdate(self) -> None:
        """Have it read again: others have written, or what was written is not known."""
        self._is_current = False

    def _take(self, stored: Session) -> None:
        """Keep one object a session, so that nobody is left with an old one."""
        if self._session is None:
            self._session = stored
            self._is_current = True
            return
        if stored.created_at != self._session.created_at:
            self.holder = None  # it was deleted, and begun anew
        before, known = self._session.version, self._session.last_seq
        self._session.adopt(stored)
        self._is_current = True
        self._tell(stored.since(known + 1))
        if stored.version != before:
            for told in self._told:
                told()

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

    @contextlib.contextmanager
    def news(self, told: Callable[[], None]) -> Iterator[None]:
        """Have a function called whenever what others have recorded is read, by whomever."""
        self._told.append(told)
        try:
            yield
        finally:
            self._told.remove(told)

    def _tell(self, recorded: Sequence[RecordedEvent]) -> None:
        for heard in self._heard:
            heard.extend(recorded)

    # -- saving ------------------------------------------------------------------------------------

    async def save(self, draft: Session, *, take: str | None = None) -> None:
        """Save a draft; one that leaves nothing to do gives the lease back.

        One that leaves something to do takes it for `take`, if it is free.

        Raises:
            SessionConflictError: if others have written.
        """
        try:
            await self._save(draft, take)
        except BaseException:
            self.outdate()
            raise

    async def _save(self, draft: Session, take: str | None) -> None:
        if not isinstance(self.manager, SessionStore):
            state = draft.state_json()
            await self.manager.save(draft)
            draft.mark_saved(seq=draft.last_seq, version=draft.version, state=state)
            return
        idle = isinstance(next_step(draft.unfinished()), Done | Wait)
        if idle:
            await self.manager.save(draft, release=self.holder, rests=True)
            self.holder = None
        elif self.holder or take is None:
            await self.manager.save(draft)
        elif await self.manager.save_taking(draft, take):
            self.holder = take

    def become(self, draft: Session, recorded: Sequence[RecordedEvent]) -> None:
        """Show what has been saved; a window that reaches further back is read again first."""
        self.session.become(draft)
        self._is_current = not draft.is_short
        self._tell(recorded)
        self._on_recorded(self.session_id, recorded)
