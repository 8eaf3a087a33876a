"""One SQLite connection with its thread, by way of aiosqlite."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar
from urllib.parse import quote

import aiosqlite

from bot.errors import StorageError
from bot.failpoints import around
from bot.storage.jobs import Connection, Fate, Jobs, Later
from bot.storage.migrations import migrate
from bot.storage.texts import kept

T = TypeVar("T")

BUSY_SECONDS = 10.0
"""How long another program's lock is waited for, before that is an error."""

EMPTYING, EMPTYING_AGAIN = 50, 0.1
"""How often the log of writes is tried to be emptied, and the seconds between."""

CLASHES = {sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE}
"""Errors of a row whose keys another one has."""

SPOILING = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
}
"""Errors after which a connection may stay useless, though the disk is well again."""


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
        self._lane.jobs.work(Transactions(self, self._lane))


class Statements:
    """A connection as jobs are given it: what they have not read to its end, ends with them.

    SQLite's view of the database is as old as the oldest statement that somebody has not finished.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._cursors: list[sqlite3.Cursor] = []

    def execute(self, sql: str, values: Any = (), /) -> sqlite3.Cursor:
        """Run one statement."""
        cursor = self._connection.execute(sql, kept(values))
        self._cursors.append(cursor)
        return cursor

    def insist(self, sql: str, values: Any, otherwise: Callable[[], Exception], /) -> None:
        """Run one statement that has to change one row."""
        if self._connection.execute(sql, kept(values)).rowcount != 1:
            raise otherwise()

    def insert(self, sql: str, values: Any, otherwise: Callable[[], Exception], /) -> None:
        """Run one statement that inserts a row whose keys no row may have yet."""
        try:
            self._connection.execute(sql, kept(values))
        except sqlite3.IntegrityError as exc:
            if exc.sqlite_errorcode in CLASHES:
                raise otherwise() from exc
            raise

    def end(self) -> None:
        """Leave what nobody has read."""
        while self._cursors:
            self._cursors.pop().close()


class Transactions:
    """What jobs run in on a SQLite connection."""

    answers_late = False

    def __init__(self, connection: Shared, lane: Lane) -> None:
        self._connection = connection
        self._lane = lane
        self._statements = Statements(connection)

    @property
    def connection(self) -> Connection:
        """What jobs are given."""
        return self._statements

    def begin(self) -> None:
        """Begin a transaction."""
        self._connection.execute(self._lane.begin)

    def commit(self) -> None:
        """Bring it to disk."""
        self._statements.end()
        if not self._lane.writes:
            self._connection.execute("COMMIT")
            return
        with around("commit"):
            self._connection.execute("COMMIT")

    def undo(self) -> None:
        """Undo it, and raise nothing."""
        self._statements.end()
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error as exc:
                self.note(exc)

    def note(self, error: Exception) -> Fate:
        """Note what went wrong; nothing gets better by being tried at once."""
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in SPOILING:
            self._lane.spoiled = True
        return Fate.ITS_OWN


class Lane:
    """A way to one connection of a file; opened once, then used from one event loop at a time.

    Attributes:
        spoiled: Whether the connection met an error after which another one is needed.
    """

    def __init__(
        self,
        path: Path,
        begin: str,
        prepare: Callable[[sqlite3.Connection], None],
    ) -> None:
        self.begin = begin
        self.writes = begin != "BEGIN"
        self.prepare = prepare
        self.jobs = Jobs(lambda: self._connection.commit())
        self.failure: Exception | None = None
        self.spoiled = False
        self._path = path
        self._uri = f"file:{quote(str(path))}?mode=rw"

    async def open(self) -> None:
        """Open the connection.

        Raises:
            StorageError: if that cannot be done.
        """
        opening = asyncio.ensure_future(self._connected())
        try:
            self._connection = await asyncio.shield(opening)
        except asyncio.CancelledError:
            self._connection = await opening  # its thread would outlive the event loop
            await self.close()
            raise
        if self.failure is not None:
            await self.close()
            raise self._told(self.failure)

    async def _connected(self) -> aiosqlite.Connection:
        return await _in_daemon_thread(
            partial(
                aiosqlite.connect,
                self._uri,
                uri=True,
                factory=partial(Shared, self),
                timeout=BUSY_SECONDS,
                isolation_level=None,
            )
        )

    async def close(self) -> None:
        """Close the connection, after what was asked before."""
        await self._connection.close()

    async def run(
        self,
        function: Callable[[Connection], Later[T] | T],
        then: Callable[[T], None] | None = None,
    ) -> T:
        """Run a job, as `Jobs.run` does.

        Raises:
            StorageError: for an error of SQLite; others are raised as they are.
        """
        try:
            return await self.jobs.run(function, then)
        except (sqlite3.Error, StorageError) as exc:
            raise self._told(exc) from exc

    async def purge(self) -> None:
        """Write the file anew, between two jobs, and empty the log of writes.

        SQLite overwrites what is deleted, but when it moves rows between pages it may leave copies
        behind; only a file that is written anew has none.

        Raises:
            StorageError: if others write, or read what was before.
        """
        try:
            await self._connection.execute_fetchall("VACUUM")
            for _ in range(EMPTYING):
                if await self._empty_log():
                    return
                await asyncio.sleep(EMPTYING_AGAIN)
        except sqlite3.Error as exc:
            raise self._told(exc) from exc
        raise StorageError(f"{self._path}: others read what was deleted; it is still in the file")

    async def _empty_log(self) -> bool:
        """Bring the log of writes into the file, unless somebody reads it; return whether it is."""
        await self._connection.execute_fetchall("PRAGMA busy_timeout = 0")
        try:
            [row] = await self._connection.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            milliseconds = int(BUSY_SECONDS * 1000)
            await self._connection.execute_fetchall(f"PRAGMA busy_timeout = {milliseconds}")
        return bool(row[0] == 0)

    def _told(self, error: Exception) -> Exception:
        if isinstance(error, StorageError):
            return StorageError(f"{self._path}: {error}")
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        return StorageError(f"{self._path}: {error} ({name})")


def prepare_writer(connection: sqlite3.Connection) -> None:
    """Set up the one connection that writes, and the schema."""
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
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
