"""A database file: one connection that writes, one that reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bot.errors import StorageError

if TYPE_CHECKING:
    from sqlite3 import Connection

    from bot.storage.connection import Lane

T = TypeVar("T")
Row = tuple[Any, ...]
Values = Sequence[Any] | Mapping[str, Any]


class Database:
    """A SQLite file, made and opened when first used; closed, it opens again when used again.

    A job is a plain function of the connection. It runs in the connection's thread, in a
    transaction that it may share with other jobs, and is run again if another one spoils that.

    Raises:
        ValueError: for a database in memory, which two connections cannot share.
    """

    def __init__(self, path: Path | str) -> None:
        if str(path) == ":memory:":
            raise ValueError("a database is a file; in memory there is InMemorySessionManager")
        self.path = Path(path).absolute()
        self._lanes: tuple[Lane, Lane] | None = None
        self._opening: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    async def write(
        self, job: Callable[[Connection], T], then: Callable[[T], None] | None = None
    ) -> T:
        """Run a job that writes; it is on disk, or nothing of it is, when this returns or raises.

        A caller that is cancelled waits for the end too, and `then` hears the result before the
        cancellation goes on.

        Raises:
            StorageError: if the database cannot be opened or written.
        """
        writer, _ = self._lanes or await self._open()
        return await writer.run(job, then)

    async def read(self, job: Callable[[Connection], T]) -> T:
        """Run a job that reads; it sees every write that returned before.

        Raises:
            StorageError: if the database cannot be opened or read.
        """
        _, reader = self._lanes or await self._open()
        return await reader.run(job)

    async def fetch(self, sql: str, values: Values = ()) -> list[Row]:
        """Read the rows of one query."""
        return await self.read(lambda connection: connection.execute(sql, values).fetchall())

    async def execute(self, sql: str, values: Values = ()) -> int:
        """Run one statement that writes; return how many rows it changed."""
        return await self.execute_many(sql, [values])

    async def execute_many(self, sql: str, rows: Sequence[Values]) -> int:
        """Run one statement for each row of values, all in one write."""
        if not rows:
            return 0
        return await self.write(
            lambda connection: sum([connection.execute(sql, row).rowcount for row in rows])
        )

    async def open(self) -> None:
        """Open the database now."""
        if self._lanes is None:
            await self._open()

    async def close(self) -> None:
        """Close the database, after what was asked before."""
        lanes, self._lanes = self._lanes, None
        if lanes is not None:
            writer, reader = lanes
            try:
                await reader.close()
            finally:
                await writer.close()

    @property
    def transactions(self) -> int:
        """How many transactions of writing were committed since it was opened."""
        return self._lanes[0].transactions if self._lanes else 0

    async def _open(self) -> tuple[Lane, Lane]:
        async with self._lock():
            if self._lanes is None:
                self._lanes = await self._connect()
            return self._lanes

    async def _connect(self) -> tuple[Lane, Lane]:
        from bot.storage import connection  # SQLite is not imported before it is used

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise StorageError(f"{self.path}: {exc}") from exc
        writer = connection.Lane(self.path, "BEGIN IMMEDIATE", connection.prepare_writer)
        reader = connection.Lane(self.path, "BEGIN", connection.prepare_reader)
        await writer.open()
        try:
            await reader.open()
        except BaseException:
            await writer.close()
            raise
        return writer, reader

    def _lock(self) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        if self._opening is None or self._opening[0] is not loop:
            self._opening = loop, asyncio.Lock()
        return self._opening[1]
