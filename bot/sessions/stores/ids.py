"""What waits in a server."""

from __future__ import annotations

import json
from collections.abc import Sequence

from bot.sessions.turns import turns_from
from bot.storage import Database

PAGE = 500

_OPEN_IN_SERVER = """
    SELECT sessions.session_id, updated_at, open_turns FROM homes
    JOIN sessions ON sessions.session_id = homes.session_id
    WHERE server_id = ? AND homes.session_id > ? AND open_turns <> '[]'
    ORDER BY homes.session_id LIMIT ?"""


class SessionIds:
    """Finds requests by where they wait."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def waiting(self, server_id: int) -> Sequence[str]:
        """Return the ids of requests that wait in a server, those of the stillest session first."""
        found: list[tuple[str, Sequence[str]]] = []
        after = ""
        while rows := await self._database.fetch(_OPEN_IN_SERVER, (server_id, after, PAGE)):
            found += [(updated_at, _pending(turns)) for _, updated_at, turns in rows]
            after = rows[-1][0]
        return [each for _, pending in sorted(found) for each in pending]


def _pending(open_turns: str) -> Sequence[str]:
    turns = turns_from(json.loads(open_turns))
    return [approval_id for turn in turns for approval_id in turn.pending]
