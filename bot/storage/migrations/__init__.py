"""The schema, as numbered SQL: applied once each, in order, never backwards."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from bot.errors import StorageError
from bot.storage.jobs import Statements


class Scripts(Statements, Protocol):
    """What runs whole scripts too."""

    def script(self, sql: str) -> None:
        """Run statements that are one text, and that may take long."""
        ...


_LOCK = 0x5061726C6579  # "Parley"


def scripts(engine: str = "sqlite") -> Sequence[Path]:
    """Return an engine's migrations in their order; the n-th brings a database to version n."""
    return sorted((Path(__file__).parent / engine).glob("*.sql"))


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a database to the newest version; safe when several processes do it at once.

    Raises:
        StorageError: if a newer version of Parley made it.
    """
    todo = scripts()
    if version(connection) == len(todo):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = version(connection)
        if done > len(todo):
            raise StorageError(f"a newer Parley made this database: version {done}")
        for script in todo[done:]:
            for statement in _statements(script.read_text(encoding="utf-8")):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(todo)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def migrate_postgres(connection: Scripts) -> None:
    """Bring a PostgreSQL database to the newest version; safe when several processes do it.

    Raises:
        StorageError: if a newer version of Parley made it.
    """
    todo = scripts("postgres")
    connection.execute("BEGIN")
    try:
        connection.execute("SELECT pg_advisory_xact_lock(?)", (_LOCK,))
        connection.execute("CREATE TABLE IF NOT EXISTS schema (version INTEGER NOT NULL)")
        row = connection.execute("SELECT version FROM schema").fetchone()
        done = row[0] if row else 0
        if done > len(todo):
            raise StorageError(f"a newer Parley made this database: version {done}")
        for script in todo[done:]:
            connection.script(script.read_text(encoding="utf-8"))
        if done < len(todo):
            connection.execute("DELETE FROM schema")
            connection.execute("INSERT INTO schema (version) VALUES (?)", (len(todo),))
        connection.execute("COMMIT")
    except BaseException:
        with suppress(Exception):  # the connection may be lost, and its transaction with it
            connection.execute("ROLLBACK")
        raise


def version(connection: sqlite3.Connection) -> int:
    """Return how many migrations a database has had."""
    number: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return number


def _statements(script: str) -> Iterator[str]:
    # not `executescript`: it commits, and the lock would be lost
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
