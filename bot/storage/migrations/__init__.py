"""The schema, as numbered SQL: applied once each, in order, never backwards."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
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
    if version(connection) == len(scripts()):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        apply(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def apply(connection: sqlite3.Connection) -> None:
    """Do the same inside a transaction that has begun to write."""
    todo = scripts()
    done = version(connection)
    _check_known(done)
    for script in todo[done:]:
        for statement in _statements(script.read_text(encoding="utf-8")):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(todo)}")


def migrate_postgres(connection: Scripts) -> None:
    """Bring a PostgreSQL database to the newest version; safe when several processes do it.

    Raises:
        StorageError: if a newer version of Parley made it.
    """
    connection.execute("BEGIN")
    try:
        apply_postgres(connection)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(Exception):  # the connection may be lost, and its transaction with it
            connection.execute("ROLLBACK")
        raise


def apply_postgres(connection: Scripts) -> None:
    """Do the same inside a transaction."""
    todo = scripts("postgres")
    connection.execute("SELECT pg_advisory_xact_lock(?)", (_LOCK,))
    connection.execute("CREATE TABLE IF NOT EXISTS schema (version INTEGER NOT NULL)")
    done = postgres_version(connection)
    _check_known(done)
    for script in todo[done:]:
        connection.script(script.read_text(encoding="utf-8"))
    if done < len(todo):
        connection.execute("DELETE FROM schema")
        connection.execute("INSERT INTO schema (version) VALUES (?)", (len(todo),))


def check_newest(done: int) -> None:
    """Refuse a database that is to be read as it is, unless it has had every migration.

    Raises:
        StorageError: if it has not; says what to do.
    """
    _check_known(done)
    if done == 0:
        raise StorageError("this is no database of Parley's")
    if done < len(scripts()):
        raise StorageError(
            f"an older Parley made this database (version {done}, not {len(scripts())}): "
            "start this one's bot with it once, which brings it up to date, and stop it again"
        )


def _check_known(done: int) -> None:
    if done > len(scripts()):
        raise StorageError(f"a newer Parley made this database: version {done}")


def own_tables() -> list[str]:
    """Return the names of the tables that there are, in the order in which they were made.

    Each engine has the same, but for those in which SQLite keeps its index of words.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        rows = connection.execute(
            "SELECT name FROM sqlite_master JOIN pragma_table_list USING (name, type)"
            " WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'"
            " ORDER BY sqlite_master.rowid"
        )
        return [name for (name,) in rows]


def postgres_version(connection: Statements) -> int:
    """Return how many migrations a PostgreSQL database has had."""
    [found] = connection.execute("SELECT to_regclass('schema') IS NOT NULL").fetchone()
    row = connection.execute("SELECT version FROM schema").fetchone() if found else None
    return int(row[0]) if row else 0


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
