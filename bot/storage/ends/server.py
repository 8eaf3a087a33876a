"""A PostgreSQL database as one end of a move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import psycopg

from bot.addresses import shown
from bot.errors import StorageError
from bot.storage.connecting import AtOnce, connect, join
from bot.storage.database import Row
from bot.storage.ends.end import End, Table
from bot.storage.migrations import apply_postgres, check_newest, own_tables, postgres_version
from bot.storage.patience import LONG_SECONDS, PatientConnection

BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ"

_IDENTITY = """
    SELECT pg_postmaster_start_time()::text, oid::bigint FROM pg_database
    WHERE datname = current_database()"""

_TABLES = """
    SELECT c.relname, a.attname, t.typname, array_position(i.indkey::int[], a.attnum::int),
           a.attgenerated <> ''
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
    WHERE c.relkind = 'r' AND pg_table_is_visible(c.oid) AND c.relname = ANY(?1)
    ORDER BY array_position(?1, c.relname::text), a.attnum"""


class Server:
    """A database of a server, by its address."""

    def __init__(self, url: str) -> None:
        self._url = url

    def identity(self) -> object:
        """Return what no other database has, whatever address it is reached by."""
        with self._connection() as connection:
            return connection.execute(_IDENTITY).fetchone()

    @contextmanager
    def source(self) -> Iterator[End]:
        """Open it to be read."""
        with self._alone() as connection:
            connection.execute(f"{BEGIN} READ ONLY")
            with self._named():
                check_newest(postgres_version(AtOnce(connection)))
            yield _ServerEnd(connection)

    @contextmanager
    def target(self) -> Iterator[End]:
        """Open it to be filled."""
        with self._alone() as connection:
            connection.execute(BEGIN)
            with self._named():
                apply_postgres(AtOnce(connection))
            yield _ServerEnd(connection)

    @contextmanager
    def _alone(self) -> Iterator[PatientConnection]:
        with self._connection() as connection:
            with self._named():
                join(connection, alone=True)
            connection.patience = LONG_SECONDS
            yield connection

    @contextmanager
    def _connection(self) -> Iterator[PatientConnection]:
        try:
            with closing(connect(self._url)) as connection:
                yield connection
        except psycopg.Error as exc:
            raise StorageError(f"{shown(self._url)}: {' '.join(str(exc).split())}") from exc

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except StorageError as exc:
            raise StorageError(f"{shown(self._url)}: {exc}") from exc


class _ServerEnd(End):
    def __init__(self, connection: PatientConnection) -> None:
        self._connection = connection
        self._flags: dict[str, set[str]] = {}

    def tables(self) -> Sequence[Table]:
        found: dict[str, list[Row]] = {}
        for name, *column in self.rows(_TABLES, (own_tables(),)):
            found.setdefault(name, []).append(tuple(column))
        self._flags = {
            name: {column for column, kind, *_ in columns if kind == "bool"}
            for name, columns in found.items()
        }
        return [_table(name, columns) for name, columns in found.items()]

    def rows(self, sql: str, values: Sequence[Any] = ()) -> Sequence[Row]:
        return self._connection.execute(sql.replace("?", "$"), values or None).fetchall()

    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        flags = [column in self._flags[table.name] for column in table.columns]
        places = ", ".join(f"${number + 1}" for number in range(len(flags)))
        typed = [
            [bool(value) if flag else value for flag, value in zip(flags, row, strict=True)]
            for row in rows
        ]
        sql = f"INSERT INTO {table.into} VALUES ({places})"  # noqa: S608 - our own names
        with self._connection.cursor() as cursor:
            cursor.executemany(sql.encode(), typed)

    def commit(self) -> None:
        self._connection.execute("COMMIT")


def _table(name: str, columns: Sequence[Row]) -> Table:
    key = sorted((place, column) for column, _, place, _ in columns if place is not None)
    filled = frozenset(column for column, _, _, generated in columns if generated)
    names = [column for column, *_ in columns]
    return Table(name, names, [column for _, column in key], filled)
