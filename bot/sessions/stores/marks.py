"""Marks: small durable facts by name."""

from __future__ import annotations

from bot.storage import Database

_SET = """
    INSERT INTO marks (key, value) VALUES (?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value"""


_MAKE = "INSERT INTO marks (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING"

_REPLACE = "UPDATE marks SET value = ? WHERE key = ? AND value = ?"


class MarkStore:
    """Texts by key, kept over restarts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, key: str) -> str | None:
        """Return the text of a key, or `None`."""
        rows = await self._database.fetch("SELECT value FROM marks WHERE key = ?", (key,))
        return rows[0][0] if rows else None

    async def set(self, key: str, value: str) -> None:
        """Store the text of a key, in place of an earlier one."""
        await self._database.execute(_SET, (key, value))

    async def replace(self, key: str, known: str | None, value: str) -> bool:
        """Store the text of a key in place of the one that is known, `None` for none; atomic.

        Returns whether that was the text.
        """
        if known is None:
            return await self._database.execute(_MAKE, (key, value)) == 1
        return await self._database.execute(_REPLACE, (value, key, known)) == 1

    async def remove(self, key: str) -> None:
        """Forget a key and its text."""
        await self._database.execute("DELETE FROM marks WHERE key = ?", (key,))

    async def forget_user(self, user_id: str) -> None:
        """Forget that somebody was told once that they may not talk here."""
        await self.remove(f"stranger-{user_id.removeprefix('user-')}")

    async def beginning_with(self, start: str) -> list[str]:
        """Return the keys that begin so, in order."""
        sql = "SELECT key FROM marks WHERE substr(key, 1, ?) = ? ORDER BY key"
        return [key for (key,) in await self._database.fetch(sql, (len(start), start))]

    async def once(self, key: str) -> bool:
        """Return whether nobody has asked for, or set, this key before; atomic, for ever."""
        return await self.replace(key, None, "")
