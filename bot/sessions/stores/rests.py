"""Which sessions a start has to look at, and which merely wait and are shown as they should be.

A session rests while three things hold: the save of its log said that nothing is to be done in it
until somebody decides or writes, nobody holds its lease, and people see all of it. What the save
said, and what people see, is noted with the version that it is true of. So whoever writes to the
session ends its rest, whether they know of it or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.sessions.times import stored_time
from bot.storage import Database, Row

_RESTS = """
    (sessions.holder IS NULL AND sessions.rested = sessions.version
     AND behind.version = sessions.version AND behind.shown_by = ?1 AND behind.wake_at > ?2)"""

_RESTING = f"""
    SELECT behind.session_id, server_id, wake_at FROM behind
    CROSS JOIN sessions LEFT JOIN homes ON homes.session_id = sessions.session_id
    WHERE sessions.session_id = behind.session_id AND open_turns <> '[]' AND {_RESTS}
    AND behind.session_id > ?3 ORDER BY behind.session_id LIMIT ?4"""  # noqa: S608 - our own words

# What is unknown is no rest: `IS NOT TRUE`.
_BEHIND = f"""
    SELECT behind.session_id, server_id, '' FROM behind
    CROSS JOIN sessions LEFT JOIN homes ON homes.session_id = sessions.session_id
    WHERE sessions.session_id = behind.session_id AND {_RESTS} IS NOT TRUE
    AND behind.session_id > ?3 ORDER BY behind.session_id LIMIT ?4"""  # noqa: S608 - our own words

_OPEN = f"""
    SELECT sessions.session_id, server_id, '' FROM sessions
    LEFT JOIN behind ON behind.session_id = sessions.session_id
    LEFT JOIN homes ON homes.session_id = sessions.session_id
    WHERE open_turns <> '[]' AND {_RESTS} IS NOT TRUE
    AND sessions.session_id > ?3 ORDER BY sessions.session_id LIMIT ?4"""  # noqa: S608 - our own words


@dataclass(frozen=True, slots=True)
class Rest:
    """What people see of a session is all there is to see.

    Attributes:
        version: The session's, of which that is true.
        shown_by: Names what shows it: another may show the same otherwise.
        wake_at: When something is to be looked at again, even if nobody decides or writes.
    """

    version: int
    shown_by: str
    wake_at: datetime


@dataclass(frozen=True, slots=True)
class Found:
    """A session that a start asks for.

    Attributes:
        server_id: Where it is; `None` for DMs.
        wake_at: When to look at one that rests.
    """

    session_id: str
    server_id: int | None
    wake_at: datetime | None = None


class RestStore:
    """Tells sessions that rest from those that do not.

    All of it comes in pages in the order of ids, as it is at the time `now` for what `shown_by`
    names.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def resting(
        self, shown_by: str, now: datetime, *, after: str = "", limit: int = 500
    ) -> Sequence[Found]:
        """Return open sessions that rest, with when to look at them."""
        return await self._page(_RESTING, shown_by, now, after, limit)

    async def behind(
        self, shown_by: str, now: datetime, *, after: str = "", limit: int = 500
    ) -> Sequence[Found]:
        """Return sessions that may show less than was recorded."""
        return await self._page(_BEHIND, shown_by, now, after, limit)

    async def open(
        self, shown_by: str, now: datetime, *, after: str = "", limit: int = 500
    ) -> Sequence[Found]:
        """Return sessions with open turns in which there may be something to do."""
        return await self._page(_OPEN, shown_by, now, after, limit)

    async def _page(
        self, sql: str, shown_by: str, now: datetime, after: str, limit: int
    ) -> Sequence[Found]:
        rows = await self._database.fetch(sql, (shown_by, stored_time(now), after, limit))
        return [_found(row) for row in rows]


def _found(row: Row) -> Found:
    session_id, server_id, wake_at = row
    return Found(session_id, server_id, datetime.fromisoformat(wake_at) if wake_at else None)
