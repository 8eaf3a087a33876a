"""A SQLite file: one connection that writes, one that reads."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bot.errors import StorageError
from bot.storage.database import Database
from bot.storage.jobs import Connection, Later
from bot.storage.private import make_private
from bot.storage.purging import Purging

if TYPE_CHECKING:
    from bot.storage.connection import Lane

logger = logging.getLogger(__name__)

T = TypeVar("T")


class SQLiteDatabase(Database):
    """A SQLite file, made when first used.

    A disk that fails is an error each time it is used, and once it is well again so is this. A
    file that went away meanwhile is not made again: what it held would seem never to have been.

    Args:
        path: The file; links are followed.
        trace: What is there, beside it, only once it was used: an empty file is then an error.

    Raises:
        ValueError: for a database in memory, which two connections cannot share.
    """

    def __init__(self, path: Path | str, *, trace: Path | None = None) -> None:
        if str(path) == ":memory:":
            raise ValueError("a database is a file; in memory there is InMemorySessionManager")
        self.path = Path(path).resolve()
        self.name = str(self.path)
        self._trace = trace
        self._lanes: tuple[Lane, Lane] | None = None
        self._was_spoiled = False
        self._purging = Purging()
        self._opening: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    async def write(
        self, job: Callable[[Connection], Later[T] | T], then: Callable[[T], None] | None = None
    ) -> T:
        """Run a job that writes."""
        with self._timed("write"):
            writer, _ = self._usable or await self._open()
            return await writer.run(job, then)

    async def read(self, job: Callable[[Connection], Later[T] | T]) -> T:
        """Run a job that reads."""
        with self._timed("read"):
            _, reader = self._usable or await self._open()
            return await reader.run(job)

    async def purge(self) -> None:
        """Write the file anew without what was deleted, and empty the log of writes."""
        await self._purging.purge(self._purge)

    async def _purge(self) -> None:
        writer, _ = self._usable or await self._open()
        await writer.purge()

    async def open(self) -> None:
        """Open the database now."""
        if self._usable is None:
            await self._open()

    async def close(self) -> None:
        """Close the database, after what was asked before."""
        self._was_spoiled = False
        await self._close()

    async def _close(self) -> None:
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
        return self._lanes[0].jobs.transactions if self._lanes else 0

    @property
    def _usable(self) -> tuple[Lane, Lane] | None:
        """The open connections, if neither is spoiled."""
        lanes = self._lanes
        return None if lanes is None or lanes[0].spoiled or lanes[1].spoiled else lanes

    async def _open(self) -> tuple[Lane, Lane]:
        async with self._lock():
            lanes = self._usable
            if lanes is None:
                await self._close_spoiled()
                lanes = self._lanes = await self._connect()
                self._was_spoiled = False
            return lanes

    async def _close_spoiled(self) -> None:
        if self._lanes is not None:
            self._was_spoiled = True
            try:
                await self._close()
            except Exception as exc:  # noqa: BLE001 - it is spoiled: what counts is the next one
                logger.warning("%s: a connection could not be closed: %s", self.path, exc)

    async def _connect(self) -> tuple[Lane, Lane]:
        from bot.storage import connection  # SQLite is not imported before it is used

        try:
            self._check()
            if not self._was_spoiled:
                make_private(self.path)
        except OSError as exc:
            raise StorageError(f"{self.path}: {exc}") from exc
        make = partial(connection.Lane, self.path)
        writer = make("BEGIN IMMEDIATE", connection.prepare_writer)
        reader = make("BEGIN", connection.prepare_reader)
        await writer.open()
        try:
            await reader.open()
        except BaseException:
            await writer.close()
            raise
        return writer, reader

    def _check(self) -> None:
        """Refuse a file that SQLite would open, and that nothing good could come of."""
        if not self.path.exists():
            return
        if not os.access(self.path, os.W_OK):
            raise StorageError(f"{self.path} is read-only")
        emptied = self._trace is not None and self._trace.exists()
        if emptied and self.path.stat().st_size == 0:
            raise StorageError(
                f"{self.path} is empty, though it has been used: restore a backup, or delete it "
                "and begin anew"
            )

    def _lock(self) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        if self._opening is None or self._opening[0] is not loop:
            self._opening = loop, asyncio.Lock()
        return self._opening[1]
