"""Places: up to which message each Discord channel was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.storage import Database

_MARK = """
    INSERT INTO places (channel_id, seen_up_to) VALUES (?, ?)
    ON CONFLICT (channel_id) DO UPDATE SET seen_up_to = excluded.seen_up_to
    WHERE excluded.seen_up_to > places.seen_up_to"""

_PRUNE = """
    DELETE FROM places WHERE channel_id IN (
        SELECT channel_id FROM places WHERE seen_up_to < ? AND channel_id > 0 LIMIT ?)"""

_DMS = """
    SELECT session_id FROM sessions
    WHERE session_id LIKE 'dm-%' AND substr(session_id, 4, 1) BETWEEN '0' AND '9'
    AND updated_at >= ?
    ORDER BY updated_at DESC LIMIT ?"""


class PlaceStore:
    """For each channel the message up to which all were recorded or need no answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def seen(self, channel_id: int) -> int | None:
        """Return the id of the last message seen there, `None` for a place never seen."""
        rows = await self._database.fetch(
            "SELECT seen_up_to FROM places WHERE channel_id = ?", (channel_id,)
        )
        return rows[0][0] if rows else None

    async def all(self) -> Mapping[int, int]:
        """Return the last message seen, by channel."""
        return dict(await self._database.fetch("SELECT channel_id, seen_up_to FROM places"))

    async def mark_seen(self, channel_id: int, message_id: int) -> None:
        """Note that everything up to a message was seen; never goes back."""
        await self._database.execute(_MARK, (channel_id, message_id))

    async def mark_all(self, seen: Mapping[int, int]) -> None:
        """Note it for several channels, in one write."""
        await self._database.execute_many(_MARK, list(seen.items()))

    async def forget(self, channel_id: int) -> None:
        """Forget a place that is not there any more."""
        await self._database.execute("DELETE FROM places WHERE channel_id = ?", (channel_id,))

    async def prune(self, before: int, *, limit: int) -> int:
        """Forget so many places that saw nothing since a message's id; return how many."""
        return await self._database.execute(_PRUNE, (before, limit))

    async def direct(self, *, since: datetime, limit: int) -> Sequence[int]:
        """Return the channels of conversations in DMs that went on since then, latest first."""
        rows = await self._database.fetch(_DMS, (since.isoformat(timespec="microseconds"), limit))
        return [int(session_id.removeprefix("dm-")) for (session_id,) in rows]
