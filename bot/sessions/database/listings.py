"""Which sessions a database has, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.sessions.store import SessionInfo, Written
from bot.sessions.times import stored_time
from bot.storage import Database, Row

_SELECT_PAGE = """
    SELECT session_id, user_id, created_at, updated_at, last_seq FROM sessions
    WHERE user_id = ?1 AND updated_at < ?2 AND updated_at >= coalesce(
        (SELECT updated_at FROM sessions WHERE user_id = ?1 AND updated_at < ?2
         ORDER BY updated_at DESC LIMIT 1 OFFSET ?3), '')
    ORDER BY updated_at DESC, session_id"""

_SELECT_AFTER = """
    SELECT session_id, user_id, created_at, updated_at, last_seq FROM sessions
    WHERE session_id > ? ORDER BY session_id LIMIT ?"""

_SELECT_OPEN = """
    SELECT session_id FROM sessions WHERE open_turns <> '[]' AND session_id > ?
    ORDER BY session_id LIMIT ?"""

_WRITTEN_BY = """
    SELECT session_id, last_at, messages FROM authors
    WHERE user_id = ?1 AND last_at < ?2 AND last_at >= coalesce(
        (SELECT last_at FROM authors WHERE user_id = ?1 AND last_at < ?2
         ORDER BY last_at DESC LIMIT 1 OFFSET ?3), '')
    ORDER BY last_at DESC, session_id"""

_FOREVER = "9999"


class Listings:
    """Lists sessions; those of the very time at which a page ends are all on it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def made_for(
        self, user_id: str, *, limit: int, before: datetime | None
    ) -> Sequence[SessionInfo]:
        """Return a user's sessions, the latest updated first."""
        until = stored_time(before) if before else _FOREVER
        rows = await self._database.fetch(_SELECT_PAGE, (user_id, until, limit - 1))
        return [_info(row) for row in rows]

    async def written_by(
        self, user_id: str, *, limit: int, before: datetime | None
    ) -> Sequence[Written]:
        """Return where somebody wrote, the latest first."""
        until = stored_time(before) if before else _FOREVER
        rows = await self._database.fetch(_WRITTEN_BY, (user_id, until, limit - 1))
        return [
            Written(session_id=name, last_at=datetime.fromisoformat(at), messages=messages)
            for name, at, messages in rows
        ]

    async def all_after(self, session_id: str, *, limit: int) -> Sequence[SessionInfo]:
        """Return all sessions in the order of their ids, those after an id."""
        rows = await self._database.fetch(_SELECT_AFTER, (session_id, limit))
        return [_info(row) for row in rows]

    async def open_after(self, session_id: str, *, limit: int) -> Sequence[str]:
        """Return ids of sessions with open turns in their order, those after an id."""
        rows = await self._database.fetch(_SELECT_OPEN, (session_id, limit))
        return [found for (found,) in rows]


def _info(row: Row) -> SessionInfo:
    session_id, user_id, created_at, updated_at, last_seq = row
    return SessionInfo(
        session_id=session_id,
        user_id=user_id,
        created_at=datetime.fromisoformat(created_at),
        updated_at=datetime.fromisoformat(updated_at),
        last_seq=last_seq,
    )
