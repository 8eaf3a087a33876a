"""What the tools did, found in the logs without reading what was merely said."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime

from bot.errors import StorageError
from bot.events import RecordedEvent, codec
from bot.sessions.times import EVER, stored_time
from bot.storage import Connection, Database, Later

PAGE = 500

# The very words of the index that finds them.
_ACTIONS = """
    kind IN ('approval_requested', 'approval_decided', 'tool_started', 'tool_result')"""

_ACTED = f"""
    EXISTS (SELECT 1 FROM events
            WHERE events.session_id = sessions.session_id AND {_ACTIONS})"""  # noqa: S608 - ours

_SESSIONS = f"""
    SELECT session_id FROM sessions WHERE session_id > ? AND updated_at >= ? AND {_ACTED}
    ORDER BY session_id LIMIT ?"""  # noqa: S608 - our own words

_SESSIONS_IN_SERVER = f"""
    SELECT homes.session_id FROM homes CROSS JOIN sessions
    WHERE sessions.session_id = homes.session_id AND homes.session_id > ? AND updated_at >= ?
    AND server_id = ? AND {_ACTED}
    ORDER BY homes.session_id LIMIT ?"""  # noqa: S608 - our own words

_TURNS = f"""
    SELECT body FROM events WHERE session_id = ?1 AND seq > ?2
    AND turn_id IN (SELECT turn_id FROM events WHERE session_id = ?1 AND {_ACTIONS})
    ORDER BY seq LIMIT ?3"""  # noqa: S608 - our own words


class ActionStore:
    """Finds the turns in which tools were called."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def sessions(
        self, *, server_id: int | None = None, since: datetime | None = None
    ) -> AsyncGenerator[str, None]:
        """Give the ids of sessions with such turns in which something happened since.

        They are all there are, or those of a server.
        """
        after, at = "", stored_time(since or EVER)
        where = () if server_id is None else (server_id,)
        sql = _SESSIONS if server_id is None else _SESSIONS_IN_SERVER
        while rows := await self._database.fetch(sql, (after, at, *where, PAGE)):
            for (session_id,) in rows:
                yield session_id
            after = rows[-1][0]

    async def log(
        self, session_id: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[RecordedEvent]:
        """Return one page of a session's log, of such turns only.

        Raises:
            StorageError: if a row is damaged.
        """

        def job(connection: Connection) -> Later[Sequence[RecordedEvent]]:
            found = connection.execute(_TURNS, (session_id, after, limit))
            return Later(lambda: codec.from_json([body for (body,) in found.fetchall()]))

        try:
            return await self._database.read(job)
        except ValueError as exc:
            raise StorageError(f"{self._database.name}: a row is damaged: {exc}") from exc
