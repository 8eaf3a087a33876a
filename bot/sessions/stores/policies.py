"""Changes of policy: who decided what about tools, in which server or session, and when."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.events import new_id, utc_now
from bot.sessions.times import stored_time
from bot.storage import Database

_ADD = """
    INSERT INTO policy_changes (scope, at, change_id, kind, subject, body, by_user)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""

_SELECT = """
    SELECT scope, at, change_id, kind, subject, body, by_user FROM policy_changes"""

_ORDER = " ORDER BY at, change_id"

_IN_SERVER = " WHERE scope = ? OR scope IN (SELECT session_id FROM homes WHERE server_id = ?)"


class ChangeKind(StrEnum):
    """What was changed."""

    RULE = "rule"
    GRANT = "grant"
    REVOKE = "revoke"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChange:
    """One change.

    Attributes:
        scope: Where it holds: ``server-`` with an id, or a session.
        kind: What was changed.
        subject: A tool, or the id of a grant that is revoked.
        body: The rule, or what was granted; of a rule that is taken back nothing.
        by: Who made it.
    """

    scope: str
    kind: ChangeKind
    subject: str
    by: str
    body: Mapping[str, Any] = field(default_factory=dict)
    at: datetime = field(default_factory=utc_now)
    change_id: str = field(default_factory=lambda: new_id("grant"))


def server_scope(server_id: int) -> str:
    """Return the scope of a whole server."""
    return f"server-{server_id}"


class PolicyStore:
    """All changes, in the order in which they were made; none is ever taken away."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, change: PolicyChange) -> None:
        """Note a change; it holds from when this returns."""
        values = (
            change.scope,
            stored_time(change.at),
            change.change_id,
            change.kind.value,
            change.subject,
            json.dumps(change.body),
            change.by,
        )
        await self._database.execute(_ADD, values)

    async def of(self, *scopes: str) -> Sequence[PolicyChange]:
        """Return what was changed in these scopes, the oldest first."""
        marks = ", ".join("?" * len(scopes))
        sql = f"{_SELECT} WHERE scope IN ({marks}){_ORDER}"
        return [_change(row) for row in await self._database.fetch(sql, scopes)]

    async def in_server(self, server_id: int) -> Sequence[PolicyChange]:
        """Return what was changed in a server and in its sessions, the oldest first."""
        values = (server_scope(server_id), server_id)
        return [
            _change(row)
            for row in await self._database.fetch(f"{_SELECT}{_IN_SERVER}{_ORDER}", values)
        ]

    async def since(self, at: datetime) -> Sequence[PolicyChange]:
        """Return what was changed anywhere, the oldest first, from a time on."""
        sql = f"{_SELECT} WHERE at >= ?{_ORDER}"
        return [_change(row) for row in await self._database.fetch(sql, (stored_time(at),))]


def _change(row: Sequence[Any]) -> PolicyChange:
    scope, at, change_id, kind, subject, body, by = row
    return PolicyChange(
        scope=scope,
        kind=ChangeKind(kind),
        subject=subject,
        by=by,
        body=json.loads(body),
        at=datetime.fromisoformat(at),
        change_id=change_id,
    )
