"""Consents: who lets the agent remember, and where."""

from __future__ import annotations

from collections.abc import Sequence

from bot.events import utc_now
from bot.sessions.times import stored_time
from bot.storage import Database


class ConsentStore:
    """Who lets the agent remember, and in which shared channels beside their DMs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def is_on(self, user_id: str) -> bool:
        """Whether somebody has turned memory on."""
        sql = "SELECT 1 FROM memory_consents WHERE user_id = ? AND channel_id = 0"
        return bool(await self._database.fetch(sql, (user_id,)))

    async def allows(self, user_id: str, channel_ids: Sequence[int]) -> bool:
        """Whether somebody has it on, and allowed in one of these channels."""
        sql = "SELECT channel_id FROM memory_consents WHERE user_id = ?"
        allowed = {channel for (channel,) in await self._database.fetch(sql, (user_id,))}
        return 0 in allowed and not allowed.isdisjoint(channel_ids)

    async def turn_on(self, user_id: str, channel_id: int = 0) -> None:
        """Turn it on, or allow it in a channel."""
        sql = """
            INSERT INTO memory_consents (user_id, channel_id, at) VALUES (?, ?, ?)
            ON CONFLICT DO NOTHING"""
        await self._database.execute(sql, (user_id, channel_id, stored_time(utc_now())))

    async def turn_off(self, user_id: str, channel_id: int | None = None) -> None:
        """Turn it off, everywhere or in a channel."""
        sql = "DELETE FROM memory_consents WHERE user_id = ?"
        if channel_id is None:
            await self._database.execute(sql, (user_id,))
        else:
            await self._database.execute(f"{sql} AND channel_id = ?", (user_id, channel_id))

    async def forget_user(self, user_id: str) -> None:
        """Forget what somebody allowed."""
        await self.turn_off(user_id)
