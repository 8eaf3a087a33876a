"""A database, whichever engine keeps it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from bot.storage.jobs import Connection, Later

T = TypeVar("T")
Row = tuple[Any, ...]
Values = Sequence[Any]


class Database(ABC):
    """Opened when first used; closed, it opens again when used again.

    A job is a plain function of the connection. It runs in the connection's thread, in a
    transaction that it may share with other jobs, and is run again if another one spoils that. Its
    statements are such as every engine understands; their parameters are written `?`, or `?1`, `?2`
    where one is used twice. A job that looks at what came of a statement may wait for a server;
    one that insists on a row, inserts one, or returns `Later`, does not.

    Attributes:
        name: What it is called in errors.
        on_done: Hears of each `read` and `write` how long it took, waiting included.
    """

    name: str
    on_done: Callable[[str, float], None] | None = None

    @contextmanager
    def _timed(self, kind: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            if self.on_done is not None:
                self.on_done(kind, time.monotonic() - started)

    @cached_property
    def _names(self) -> WeakValueDictionary[tuple[int, str], asyncio.Lock]:
        return WeakValueDictionary()

    @abstractmethod
    async def write(
        self, job: Callable[[Connection], Later[T] | T], then: Callable[[T], None] | None = None
    ) -> T:
        """Run a job that writes; it is on disk, or nothing of it is, when this returns or raises.

        A caller that is cancelled waits for the end too, and `then` hears the result before the
        cancellation goes on.

        Raises:
            StorageError: if the database cannot be opened or written.
        """

    @abstractmethod
    async def read(self, job: Callable[[Connection], Later[T] | T]) -> T:
        """Run a job that reads; it sees every write that returned before.

        Raises:
            StorageError: if the database cannot be opened or read.
        """

    async def wait(self, seconds: float) -> None:  # noqa: B027 - a file is there or is not
        """Wait, for so long at most, for a server that is away or not ready yet."""

    @abstractmethod
    async def open(self) -> None:
        """Open the database now."""

    @abstractmethod
    async def close(self) -> None:
        """Close the database, after what was asked before."""

    @contextlib.asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[None]:
        """Be the only one, of all who may use the database, who does what has this name.

        Here it is one of this process. Another engine's holds for other processes too, for as
        long as the connection that writes is there.

        Raises:
            StorageError: if that was lost: others may have been in such a block at the same time.
        """
        async with self._alone_here(name):
            yield

    async def at_work(self) -> frozenset[int]:
        """Return numbers of those who work with the database now, if they can be told apart.

        Whoever ends, or loses the connection that writes, is not among them any more.
        """
        return frozenset()

    @contextmanager
    def hearing(self, name: str) -> Iterator[asyncio.Event]:
        """Give an event that is set when another process says this name, if that is heard here."""
        yield asyncio.Event()

    def _alone_here(self, name: str) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        key = (id(loop), name)
        lock = self._names.get(key)
        if lock is None:
            lock = self._names[key] = asyncio.Lock()
        return lock

    @abstractmethod
    async def purge(self) -> None:
        """Let nothing of deleted rows be left in the database's files, as far as that can be done.

        Writes wait meanwhile.

        Raises:
            StorageError: if it could not be done, for example since others read.
        """

    async def fetch(self, sql: str, values: Values = ()) -> list[Row]:
        """Read the rows of one query."""
        return await self.read(lambda connection: Later(connection.execute(sql, values).fetchall))

    async def execute(self, sql: str, values: Values = ()) -> int:
        """Run one statement that writes; return how many rows it changed."""
        return await self.execute_many(sql, [values])

    async def execute_many(self, sql: str, rows: Sequence[Values]) -> int:
        """Run one statement for each row of values, all in one write."""
        if not rows:
            return 0

        def job(connection: Connection) -> Later[int]:
            done = [connection.execute(sql, row) for row in rows]
            return Later(lambda: sum(each.rowcount for each in done))

        return await self.write(job)
