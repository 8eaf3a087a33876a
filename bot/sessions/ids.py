"""What waits in a server."""

from __future__ import annotations

import json
from collections.abc import Sequence

from bot.sessions.turns import turns_from
from bot.storage import Database

_OPEN_IN_SERVER = """
    SELECT open_turns FROM sessions
    JOIN homes ON homes.session_id = sessions.session_id
    WHERE server_id = ? AND open_turns <> '[]'
    ORDER BY updated_at LIMIT ?"""


class SessionIds:
    """Finds requests by where they wait."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def waiting(self, server_id: int, *, limit: int = 200) -> Sequence[str]:
        """Return the ids of requests that wait in a server, those of the stillest session first."""
        rows = await self._database.fetch(_OPEN_IN_SERVER, (server_id, limit))
        turns = (turn for (text,) in rows for turn in turns_from(json.loads(text)))
        return [approval_id for turn in turns for approval_id in turn.pending]
