"""The ids of sessions, in pages: all of them, a server's, or what waits in a server."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime

from bot.sessions.times import stored_time
from bot.sessions.turns import turns_from
from bot.storage import Database

PAGE = 500

_ALL = """
    SELECT session_id FROM sessions WHERE session_id > ? AND updated_at >= ?
    ORDER BY session_id LIMIT ?"""

_OF_SERVER = """
    SELECT sessions.session_id FROM sessions
    JOIN homes ON homes.session_id = sessions.session_id
    WHERE sessions.session_id > ? AND updated_at >= ? AND server_id = ?
    ORDER BY sessions.session_id LIMIT ?"""

_OPEN_IN_SERVER = """
    SELECT open_turns FROM sessions
    JOIN homes ON homes.session_id = sessions.session_id
    WHERE server_id = ? AND open_turns <> '[]'
    ORDER BY updated_at LIMIT ?"""

EVER = datetime(1, 1, 1, tzinfo=UTC)


class SessionIds:
    """Finds sessions by where they are and when something last happened in them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(
        self, *, server_id: int | None = None, since: datetime | None = None
    ) -> AsyncGenerator[str, None]:
        """Give the ids of all sessions, or of a server's, in which something happened since."""
        after, at = "", stored_time(since or EVER)
        where = () if server_id is None else (server_id,)
        sql = _ALL if server_id is None else _OF_SERVER
        while rows := await self._database.fetch(sql, (after, at, *where, PAGE)):
            for (session_id,) in rows:
                yield session_id
            after = rows[-1][0]

    async def waiting(self, server_id: int, *, limit: int = 200) -> Sequence[str]:
        """Return the ids of requests that wait in a server, those of the stillest session first."""
        rows = await self._database.fetch(_OPEN_IN_SERVER, (server_id, limit))
        turns = (turn for (text,) in rows for turn in turns_from(json.loads(text)))
        return [approval_id for turn in turns for approval_id in turn.pending]
