"""One SQLite connection with its thread, shared by many: what waits together runs together.

A job is a plain function of the connection, run in the connection's thread. Jobs that wait at the
same moment share one transaction, so that many saves cost one commit. If one of them fails, all
are undone and each is run again alone: a job must not care for being run twice, and only the one
at fault fails.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import aiosqlite

from bot.errors import StorageError
from bot.failpoints import around
from bot.storage.migrations import migrate

T = TypeVar("T")

BUSY_SECONDS = 10.0
"""How long another program's lock is waited for, before that is an error."""

SPOILING = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
}
"""Errors after which a connection may stay useless, though the disk is well again."""


class Job(Generic[T]):
    """A function to run, and what came of it."""

    def __init__(self, function: Callable[[sqlite3.Connection], T]) -> None:
        self.function = function
        self.value: T
        self.error: Exception | None = None
        self.done = False
        self.wake: asyncio.Future[None] | None = None


class Shared(sqlite3.Connection):
    """A connection whose `commit` runs the jobs that wait, in one transaction."""

    def __init__(self, lane: Lane, database: str, **options: Any) -> None:
        try:
            super().__init__(database, **options)
            self._lane = lane
            lane.prepare(self)
        except Exception as exc:  # noqa: BLE001 - raised again by `Lane.open`
            # not from here: aiosqlite would let its thread end at a time of its own
            lane.failure = exc
            super().__init__(":memory:")

    def commit(self) -> None:
        """Run what waits."""
        jobs = self._lane.take()
        try:
            if jobs:
                self._settle(jobs)
        finally:
            self._lane.finish(jobs)

    def _settle(self, jobs: list[Job[Any]]) -> None:
        try:
            self.execute(self._lane.begin)
        except sqlite3.Error as exc:
            self._lane.note(exc)
            for job in jobs:
                job.error = exc
            return
        try:
            for job in jobs:
                job.value = job.function(self)
            self._commit()
        except Exception as exc:  # noqa: BLE001 - raised again for whoever asked
            self._lane.note(exc)
            for job in jobs:
                job.error = exc
            self._undo()
            if len(jobs) > 1:
                for job in jobs:
                    job.error = None
                    self._settle([job])
        else:
            self._lane.transactions += 1

    def _commit(self) -> None:
        if not self._lane.writes:
            self.execute("COMMIT")
            return
        with around("commit"):
            self.execute("COMMIT")

    def _undo(self) -> None:
        if self.in_transaction:
            try:
                self.execute("ROLLBACK")
            except sqlite3.Error as exc:
                self._lane.note(exc)


class Lane:
    """A way to one connection; opened once, then used from one event loop at a time.

    Attributes:
        spoiled: Whether the connection met an error after which another one is needed.
    """

    def __init__(
        self,
        path: Path,
        begin: str,
        prepare: Callable[[sqlite3.Connection], None],
        *,
        create: bool,
    ) -> None:
        self.begin = begin
        self.writes = begin != "BEGIN"
        self.prepare = prepare
        self.transactions = 0
        self.failure: Exception | None = None
        self.spoiled = False
        self._path = path
        self._uri = f"file:{quote(str(path))}?mode={'rwc' if create else 'rw'}"
        self._waiting: deque[Job[Any]] = deque()
        self._finished: deque[Job[Any]] = deque()
        self._asked = False

    async def open(self) -> None:
        """Open the connection.

        Raises:
            StorageError: if that cannot be done.
        """
        self._connection = await _in_daemon_thread(
            partial(
                aiosqlite.connect,
                self._uri,
                uri=True,
                factory=partial(Shared, self),
                timeout=BUSY_SECONDS,
                isolation_level=None,
            )
        )
        if self.failure is not None:
            await self.close()
            raise self._told(self.failure)

    async def close(self) -> None:
        """Close the connection, after what was asked before."""
        await self._connection.close()

    async def run(
        self, function: Callable[[sqlite3.Connection], T], then: Callable[[T], None] | None = None
    ) -> T:
        """Run a job to its end, even if the caller is cancelled meanwhile.

        The cancellation goes on afterwards. `then` hears the result in either case.

        Raises:
            StorageError: for an error of SQLite; others are raised as they are.
        """
        job = Job(function)
        self._waiting.append(job)
        cancelled = await self._outcome(job)
        if job.error is None and then is not None:
            then(job.value)
        if cancelled is not None:
            raise cancelled
        if job.error is not None:
            raise self._told(job.error)
        return job.value

    def _told(self, error: Exception) -> Exception:
        if isinstance(error, StorageError):
            return StorageError(f"{self._path}: {error}")
        if not isinstance(error, sqlite3.Error):
            return error
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        told = StorageError(f"{self._path}: {error} ({name})")
        told.__cause__ = error
        return told

    async def _outcome(self, job: Job[T]) -> asyncio.CancelledError | None:
        cancelled = None
        try:
            while not job.done:
                try:
                    await self._progress(job, alone=cancelled is not None)
                except asyncio.CancelledError as exc:
                    cancelled = exc
        finally:
            self._wake_finished()
        return cancelled

    async def _progress(self, job: Job[T], *, alone: bool) -> None:
        if self._asked and not alone:
            job.wake = asyncio.get_running_loop().create_future()
            await job.wake
        else:  # nobody has asked the thread yet, or we did and stopped listening
            self._asked = True
            await self._connection.commit()

    def _wake_finished(self) -> None:
        while self._finished:
            wake = self._finished.popleft().wake
            if wake is not None and not wake.done():
                wake.set_result(None)

    # -- in the connection's thread ----------------------------------------------------------------

    def take(self) -> list[Job[Any]]:
        """Return the jobs that wait; who comes later must ask again."""
        self._asked = False
        return [self._waiting.popleft() for _ in range(len(self._waiting))]

    def note(self, error: Exception) -> None:
        """Note an error that a job, or the transaction around it, has met."""
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in SPOILING:
            self.spoiled = True

    def finish(self, jobs: list[Job[Any]]) -> None:
        """Hand back jobs that were run; whoever asked wakes the others."""
        for job in jobs:
            job.done = True
        self._finished.extend(jobs)


def prepare_writer(connection: sqlite3.Connection) -> None:
    """Set up the one connection that writes, and the schema."""
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    migrate(connection)


def prepare_reader(connection: sqlite3.Connection) -> None:
    """Set up the connection that reads."""
    connection.execute("PRAGMA query_only = ON")


def _write_ahead(connection: sqlite3.Connection) -> None:
    # Two that make a file at once find it locked without SQLite's own waiting for it.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as exc:
            if exc.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(BUSY_SECONDS / 200)
        else:
            return


def _in_daemon_thread(make: Callable[[], T]) -> T:
    """Call a function in a daemon thread: the threads it makes are daemons by inheritance.

    aiosqlite's threads are not daemons of their own accord, and a program that ended with an error
    before it closed its database would wait for them for ever.
    """
    made: list[T] = []
    thread = Thread(target=lambda: made.append(make()), daemon=True)
    thread.start()
    thread.join()
    return made[0]
