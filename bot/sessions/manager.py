"""Where sessions live: the small interface that everybody can implement."""

from __future__ import annotations

from abc import ABC, abstractmethod

from bot.errors import SessionExistsError
from bot.sessions.session import Session


class SessionManager(ABC):
    """Keeps sessions. A subclass needs `create`, `get` and `save`.

    It may store `session.to_dict()`, read back by `Session.from_dict`, or the object itself.
    """

    @abstractmethod
    async def create(self, session_id: str, user_id: str | None = None) -> Session:
        """Make and store an empty session.

        Raises:
            SessionExistsError: if there is one; it is never overwritten.
            ValueError: if the id is not one.
        """

    @abstractmethod
    async def get(self, session_id: str) -> Session | None:
        """Return the session, or `None` only when there is none.

        Raises:
            StorageError: if it cannot be read.
        """

    async def get_or_create(self, session_id: str, user_id: str | None = None) -> Session:
        """Return the session, made if need be; safe when two callers race."""
        while True:
            session = await self.get(session_id)
            if session is not None:
                return session
            try:
                return await self.create(session_id, user_id)
            except SessionExistsError:
                continue

    @abstractmethod
    async def save(self, session: Session) -> None:
        """Store what is not stored yet.

        Raises:
            SessionConflictError: if another writer stored events first.
            DuplicateMessageError: if a message with the same `source_id` is stored already.
            StateError: if a value of the state is not JSON.
        """
