"""Connecting to PostgreSQL: how, whether somebody is there, and what is agreed first."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import errors, pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bot.addresses import SCHEMES, WELL_WRITTEN, is_well_written
from bot.errors import StorageError
from bot.storage import patience
from bot.storage.jobs import Cursor, Statements
from bot.storage.pipeline import numbered

CONNECT_SECONDS = 10
LOCK_SECONDS = 10
"""How long a lock of another process is waited for, before that is an error."""
LEAVING_SECONDS = 2
"""How long the server may need to notice that a connection has ended."""

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
"""Locks of a bot that went away without a word hold up those that are there."""

AT_WORK = 0x5061726C657A
"""The lock that everybody shares who works with the database."""


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


def bound(connection: Statements) -> None:
    """Let the server give up by itself what takes too long, or whose client is not there."""
    connection.execute(_BOUNDED, (f"{patience.STATEMENT_SECONDS}s",))


def join(connection: psycopg.Connection[Any], *, alone: bool = False) -> None:
    """Be one of those who work with a database, or the only one, while the connection lasts.

    Raises:
        StorageError: if somebody works with it alone; if alone, if anybody does.
    """
    lock = "pg_advisory_lock" if alone else "pg_advisory_lock_shared"
    _wait_for_locks(connection, LEAVING_SECONDS)
    try:
        connection.execute(f"SELECT {lock}($1::bigint)", (AT_WORK,))
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
