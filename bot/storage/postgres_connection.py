"""One PostgreSQL connection with its thread; lost, it is made again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg import errors, pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bot.addresses import SCHEMES, WELL_WRITTEN, is_well_written
from bot.errors import StorageError
from bot.failpoints import around
from bot.storage import patience
from bot.storage.jobs import Connection, Cursor, Fate, Jobs, Later
from bot.storage.migrations import migrate_postgres
from bot.storage.pipeline import Pipeline, numbered
from bot.storage.worker import Worker

T = TypeVar("T")

CONNECT_SECONDS = 10
LOCK_SECONDS = 10
"""How long a lock of another process is waited for, before that is an error."""
LEAVING_SECONDS = 2
"""How long the server may need to notice that a connection has ended, and to let us go."""

LIVELINESS = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""A server that went away without a word is missed within a minute (libpq, parameter key words)."""

_BOUNDED = """
    SELECT set_config('statement_timeout', ?, false),
           set_config('idle_in_transaction_session_timeout', '60s', false),
           set_config('tcp_keepalives_idle', '30', false),
           set_config('tcp_keepalives_interval', '10', false),
           set_config('tcp_keepalives_count', '3', false),
           set_config('tcp_user_timeout', '30s', false)"""
"""What the server is to give up by itself: locks of a bot that went away without a word hold up
those that are there."""

_AT_WORK = 0x5061726C657A
"""The lock that everybody shares who works with the database."""

_IN_THE_WAY = (errors.DeadlockDetected, errors.SerializationFailure)


class PostgresLane:
    """A way to one connection; opened once, then used from one event loop at a time."""

    def __init__(
        self, url: str, *, name: str, prepare: Callable[[Connection], None], writes: bool
    ) -> None:
        self.jobs = Jobs(lambda: self._worker.call(self._work))
        self._url = url
        self._name = name
        self._prepare = prepare
        self._writes = writes
        self._worker = Worker(f"{'writer' if writes else 'reader'} of {name}")
        self._raw: psycopg.Connection[Any] | None = None
        self._pipeline: Pipeline
        self._committing = False

    async def open(self) -> None:
        """Open the connection.

        Raises:
            StorageError: if that cannot be done.
        """
        try:
            await self._worker.call(self._connected)
        except (psycopg.Error, StorageError) as exc:
            raise self._told(exc) from exc

    async def close(self) -> None:
        """Close the connection, after what was asked before."""
        await self._worker.call(self._leave)
        self._worker.end()

    async def run(
        self,
        function: Callable[[Connection], Later[T] | T],
        then: Callable[[T], None] | None = None,
    ) -> T:
        """Run a job, as `Jobs.run` does.

        Raises:
            StorageError: for an error of PostgreSQL; others are raised as they are.
        """
        try:
            return await self.jobs.run(function, then)
        except (psycopg.Error, StorageError) as exc:
            raise self._told(exc) from exc

    def _told(self, error: psycopg.Error | StorageError) -> StorageError:
        if isinstance(error, StorageError):
            return StorageError(f"{self._name}: {error}")
        text = " ".join(str(error).split())
        return StorageError(f"{self._name}: {text} ({error.sqlstate or type(error).__name__})")

    # -- in the connection's thread ----------------------------------------------------------------

    @property
    def connection(self) -> Connection:
        """What jobs are given."""
        return self._pipeline

    def begin(self) -> None:
        """Begin a transaction; a connection that was lost meanwhile is made again."""
        self._connected()
        self._pipeline.execute(
            "BEGIN" if self._writes else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        )

    def commit(self) -> None:
        """Bring it to disk; of one that only read nothing more need be heard."""
        if not self._writes:
            self._pipeline.execute("COMMIT")
            self._pipeline.flush()
            return
        self._pipeline.sync()
        with around("commit"):
            self._committing = True
            self._pipeline.execute("COMMIT")
            self._pipeline.sync()
            self._committing = False

    def undo(self) -> None:
        """Undo it, and raise nothing."""
        with suppress(Exception):
            self._pipeline.sync()  # what was sent meanwhile has failed with the job
        try:
            self._pipeline.execute("ROLLBACK")
            self._pipeline.sync()
        except psycopg.Error:
            self._close()

    def note(self, error: Exception) -> Fate:
        """Return what may come of the jobs: a lost connection is made again, and others wait."""
        committing, self._committing = self._committing, False
        lost = self._raw is None or self._raw.closed
        if isinstance(error, patience.SilenceError) or (lost and committing):
            return Fate.UNKNOWN
        if lost or isinstance(error, _IN_THE_WAY):
            return Fate.AGAIN
        return Fate.ITS_OWN

    def _work(self) -> None:
        self.jobs.work(self)

    def _connected(self) -> None:
        if self._raw is None or self._raw.closed or self._pipeline.is_lost():
            self._close()
            self._raw, self._pipeline = self._connect()

    def _connect(self) -> tuple[psycopg.Connection[Any], Pipeline]:
        connection = connect(self._url)
        try:
            if self._writes:
                join(connection)
                migrate_postgres(AtOnce(connection))
            pipeline = Pipeline(connection)
            pipeline.execute(_BOUNDED, (f"{patience.STATEMENT_SECONDS}s",))
            self._prepare(pipeline)
            pipeline.sync()
        except BaseException:
            connection.close()
            raise
        return connection, pipeline

    def _leave(self) -> None:
        """Close the connection; its locks end now, and not when the server has noticed."""
        if self._raw is not None:
            self._pipeline.patience = LEAVING_SECONDS
            with suppress(psycopg.Error):
                self._pipeline.execute("SELECT pg_advisory_unlock_all()")
                self._pipeline.sync()
        self._close()

    def _close(self) -> None:
        raw, self._raw = self._raw, None
        if raw is not None:
            raw.close()


class AtOnce:
    """Runs each statement when it is asked to."""

    def __init__(self, connection: patience.PatientConnection) -> None:
        self._connection = connection

    def execute(self, sql: str, values: Any = (), /) -> Cursor:
        """Run one statement, its parameters written as `Database` says."""
        return self._connection.execute(numbered(sql), values or None)

    def script(self, sql: str) -> None:
        """Run statements that are one text, and that may take long."""
        before, self._connection.patience = self._connection.patience, patience.LONG_SECONDS
        self._connection.execute(sql.encode())
        self._connection.patience = before


def connect(url: str) -> patience.PatientConnection:
    """Return a new connection; its transactions are begun and ended by hand.

    Raises:
        StorageError: if the address cannot be read, or the database not hold every text.
    """
    connection = patience.PatientConnection.connect(
        **parameters(url), autocommit=True, cursor_factory=psycopg.RawCursor
    )
    try:
        _wait_for_locks(connection, LOCK_SECONDS)
        _check_encoding(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_encoding(connection: psycopg.Connection[Any]) -> None:
    [encoding] = connection.execute("SELECT current_setting('server_encoding')").fetchone() or [""]
    if encoding != "UTF8":
        raise StorageError(
            f"its encoding is {encoding}, which cannot hold every text: create the database with "
            "ENCODING 'UTF8' TEMPLATE template0"
        )


def _wait_for_locks(connection: psycopg.Connection[Any], seconds: float) -> None:
    connection.execute("SELECT set_config('lock_timeout', $1, false)", (f"{seconds}s",))


def join(connection: psycopg.Connection[Any], *, alone: bool = False) -> None:
    """Be one of those who work with a database, or the only one, while the connection lasts.

    Raises:
        StorageError: if somebody works with it alone; if alone, if anybody does.
    """
    lock = "pg_advisory_lock" if alone else "pg_advisory_lock_shared"
    _wait_for_locks(connection, LEAVING_SECONDS)
    try:
        connection.execute(f"SELECT {lock}($1::bigint)", (_AT_WORK,))
    except errors.LockNotAvailable:
        others = "another Parley works with it: stop it first" if alone else "it is being moved"
        raise StorageError(others) from None
    _wait_for_locks(connection, LOCK_SECONDS)


def absence(url: str) -> str:
    """Return why no server is there, or none that is ready; nothing if there is one.

    What it says to a user, a password or a database is not asked.
    """
    try:
        psycopg.connect(**parameters(url)).close()
    except psycopg.OperationalError as exc:
        silent = isinstance(exc, errors.ConnectionTimeout)
        return " ".join(str(exc).split()) if silent or not _is_ready(url) else ""
    except (psycopg.Error, StorageError):
        pass
    return ""


def _is_ready(url: str) -> bool:
    found = pq.PGconn.ping(make_conninfo(**parameters(url)).encode())
    return found not in (pq.Ping.REJECT, pq.Ping.NO_RESPONSE)


def parameters(url: str) -> dict[str, Any]:
    """Return the parameters of a connection.

    Raises:
        StorageError: if the address has none; what libpq says of it may hold the password.
    """
    ours = {"application_name": "parley", "connect_timeout": CONNECT_SECONDS, **LIVELINESS}
    if url.startswith(SCHEMES) and not is_well_written(url):
        raise StorageError(f"the address {WELL_WRITTEN}")
    try:
        return ours | conninfo_to_dict(url) | {"client_encoding": "UTF8"}
    except psycopg.Error:
        raise StorageError("this is no address of a PostgreSQL database") from None
