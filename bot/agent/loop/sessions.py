"""The live sessions of a session manager, and who may have which."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar
from weakref import WeakValueDictionary

from bot.agent.loop.live import LiveSession
from bot.agent.loop.working_copy import MayContinue, OnRecorded
from bot.errors import AccessDeniedError
from bot.events import RecordedEvent
from bot.sessions import SessionManager

T = TypeVar("T")


class LiveSessions:
    """The live sessions of a session manager; one an id, for as long as somebody uses it.

    Attributes:
        on_recorded: Called with a session's id and what was recorded in it, each time.
    """

    def __init__(
        self,
        manager: SessionManager,
        *,
        may_continue: MayContinue = lambda session, user_id: True,
    ) -> None:
        self.on_recorded: OnRecorded = lambda session_id, events: None
        self._manager = manager
        self._may_continue = may_continue
        self._live: WeakValueDictionary[str, LiveSession] = WeakValueDictionary()

    def __getitem__(self, session_id: str) -> LiveSession:
        live = self._live.get(session_id)
        if live is None:
            live = self._live[session_id] = LiveSession(session_id, self._manager, self._recorded)
        return live

    def _recorded(self, session_id: str, events: Sequence[RecordedEvent]) -> None:
        self.on_recorded(session_id, events)

    async def admitted(self, session_id: str, user_id: str | None) -> LiveSession:
        """Return a session that this user may continue, made if there is none.

        Raises:
            AccessDeniedError: if they may not.
        """
        live = self[session_id]
        await live.admit(user_id, self._may_continue)
        return live

    async def found(self, session_id: str, by: str | None = None) -> LiveSession | None:
        """Return a session that exists, as it is now, for somebody who may continue it.

        Raises:
            AccessDeniedError: if they may not.
        """
        live = self[session_id]
        try:
            await live.open()
            await live.look()
        except AccessDeniedError:
            return None
        if by is not None and not self._may_continue(live.session, by):
            raise AccessDeniedError(f"you may not continue the session {session_id!r}")
        return live

    async def within(
        self, session_id: str, by: str | None, work: Callable[[LiveSession], Awaitable[T]]
    ) -> T | None:
        """Do something with a session for somebody; return `None` if there is none, or no more.

        Raises:
            AccessDeniedError: if they may not continue it.
        """
        live = await self.found(session_id, by)
        if live is None:
            return None
        try:
            return await work(live)
        except AccessDeniedError:  # it was deleted meanwhile
            return None

    def forget(self) -> None:
        """Forget what is open; the session manager has been closed."""
        self._live = WeakValueDictionary()
