"""Bytes in a database, each stored once, under their SHA-256."""

from __future__ import annotations

import hashlib
from datetime import datetime

from bot.events import utc_now
from bot.sessions.times import stored_time
from bot.storage import Connection, Database

_PUT_BLOB = """
    INSERT INTO blobs (sha256, data, put_at) VALUES (?, ?, ?)
    ON CONFLICT (sha256) DO UPDATE SET put_at = excluded.put_at"""

_DROP_UNUSED = """
    DELETE FROM blobs WHERE put_at < ?
    AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob_uses.sha256 = blobs.sha256)"""


class Blobs:
    """Keeps bytes as long as something refers to them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, data: bytes) -> str:
        """Store bytes once; return their SHA-256 in hexadecimal."""

        def job(connection: Connection) -> str:
            sha256 = hashlib.sha256(data).hexdigest()
            connection.execute(_PUT_BLOB, (sha256, data, stored_time(utc_now()))).close()
            return sha256

        return await self._database.write(job)

    async def get(self, sha256: str) -> bytes | None:
        """Return stored bytes, or `None`."""
        rows = await self._database.fetch("SELECT data FROM blobs WHERE sha256 = ?", (sha256,))
        return rows[0][0] if rows else None

    async def drop_unused(self, before: datetime) -> None:
        """Forget bytes handed in before a time to which nothing refers."""
        await self._database.execute(_DROP_UNUSED, (stored_time(before),))
