"""Homes: in which server and channel each session is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.storage import Database

_PUT = """
    INSERT INTO homes (session_id, server_id, channel_id) VALUES (?, ?, ?)
    ON CONFLICT (session_id) DO UPDATE
    SET server_id = excluded.server_id, channel_id = excluded.channel_id"""

_PAGE = """
    SELECT session_id FROM homes WHERE server_id = ? AND session_id > ?
    ORDER BY session_id LIMIT ?"""


_ON = "SELECT session_id FROM homes WHERE channel_id = ? ORDER BY session_id LIMIT ?"


@dataclass(frozen=True, slots=True)
class Home:
    """A server, and the channel in it: of a thread the one that it hangs on."""

    server_id: int
    channel_id: int


class HomeStore:
    """The homes of sessions; conversations in DMs have none."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, session_id: str, home: Home) -> None:
        """Note where a session is; written only where that is news."""
        if await self.of(session_id) != home:
            await self._database.execute(_PUT, (session_id, home.server_id, home.channel_id))

    async def remove(self, session_id: str) -> None:
        """Forget where a session was; one that is deleted loses its home by itself."""
        await self._database.execute("DELETE FROM homes WHERE session_id = ?", (session_id,))

    async def of(self, session_id: str) -> Home | None:
        """Return where a session is, `None` for one that has no home."""
        rows = await self._database.fetch(
            "SELECT server_id, channel_id FROM homes WHERE session_id = ?", (session_id,)
        )
        return Home(*rows[0]) if rows else None

    async def sessions_in(
        self, server_id: int, *, after: str = "", limit: int = 500
    ) -> Sequence[str]:
        """Return ids of a server's sessions, in the order of ids, those after `after`."""
        rows = await self._database.fetch(_PAGE, (server_id, after, limit))
        return [session_id for (session_id,) in rows]

    async def sessions_on(self, channel_id: int, *, limit: int = 500) -> Sequence[str]:
        """Return ids of sessions in a channel and in its threads, the first in order."""
        rows = await self._database.fetch(_ON, (channel_id, limit))
        return [session_id for (session_id,) in rows]

    async def servers(self) -> Sequence[int]:
        """Return the servers in which there are sessions."""
        rows = await self._database.fetch("SELECT DISTINCT server_id FROM homes ORDER BY 1")
        return [server_id for (server_id,) in rows]

    async def channels(self, server_id: int) -> Sequence[int]:
        """Return the channels of a server in which there are sessions."""
        sql = "SELECT DISTINCT channel_id FROM homes WHERE server_id = ? ORDER BY 1"
        return [number for (number,) in await self._database.fetch(sql, (server_id,))]
