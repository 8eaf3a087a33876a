"""Settings of servers and channels, with who changed what and when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.storage import Connection, Database, Later

_PUT = """
    INSERT INTO server_settings
    (server_id, channel_id, version, value, field, changed_by, changed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING"""

# What waits there may be shown otherwise from now on: the next start looks at it. Each change has
# words of its own, by which whoever is showing it sees that there was one.
_END_RESTS = """
    UPDATE behind SET shown_by = ?
    WHERE session_id IN (SELECT session_id FROM homes WHERE server_id = ?)"""

_LATEST = """
    SELECT version, value FROM server_settings WHERE server_id = ? AND channel_id = ?
    ORDER BY version DESC LIMIT 1"""

_CHANGES = """
    SELECT server_id, channel_id, version, value, field, changed_by, changed_at
    FROM server_settings WHERE server_id = ?
    ORDER BY changed_at DESC, version DESC LIMIT ?"""


@dataclass(frozen=True, slots=True)
class Scope:
    """What settings are for: a server, or a channel in it."""

    server_id: int
    channel_id: int = 0

    @property
    def server(self) -> Scope:
        """The server."""
        return Scope(self.server_id)


@dataclass(frozen=True, slots=True)
class Stored:
    """The settings of a scope as they are stored: JSON, and how often they were changed."""

    version: int = 0
    value: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of one field.

    Attributes:
        value: All settings of the scope after it.
        by: Who made it; empty where that was forgotten.
    """

    scope: Scope
    version: int
    value: str
    field: str
    by: str
    at: datetime


class SettingsStore:
    """Keeps every change; the last one of a scope says what holds."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, *scopes: Scope) -> Sequence[Stored]:
        """Return what holds in each of these scopes."""

        def job(connection: Connection) -> Later[Sequence[Stored]]:
            keys = [(each.server_id, each.channel_id) for each in scopes]
            found = [connection.execute(_LATEST, key) for key in keys]
            rows = (each.fetchone() for each in found)
            return Later(lambda: [Stored(*row) if row else Stored() for row in rows])

        return await self._database.read(job)

    async def put(self, change: Change) -> bool:
        """Store a change, on disk when this returns; return whether it was the next version."""
        return await self._database.write(changing(change))

    async def forget_user(self, user_id: str) -> None:
        """Forget who made somebody's changes; what they set still holds."""
        sql = "UPDATE server_settings SET changed_by = '' WHERE changed_by = ?"
        await self._database.execute(sql, (user_id,))

    async def changes(self, server_id: int, *, limit: int = 20) -> Sequence[Change]:
        """Return the last changes in a server and its channels, latest first."""
        rows = await self._database.fetch(_CHANGES, (server_id, limit))
        return [
            Change(
                scope=Scope(server, channel),
                version=version,
                value=value,
                field=field,
                by=by,
                at=datetime.fromisoformat(at),
            )
            for server, channel, version, value, field, by, at in rows
        ]


def changing(change: Change) -> Callable[[Connection], Later[bool]]:
    """Return the job that stores a change, and returns whether it was the next version."""
    scope, at = change.scope, change.at.isoformat(timespec="microseconds")
    row = (scope.server_id, scope.channel_id, change.version, change.value, change.field)
    nobody = f"before change {change.version} of {scope.server_id} {scope.channel_id}"

    def job(connection: Connection) -> Later[bool]:
        connection.execute(_END_RESTS, (nobody, scope.server_id)).close()
        put = connection.execute(_PUT, (*row, change.by, at))
        return Later(lambda: put.rowcount == 1)

    return job
