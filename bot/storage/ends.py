"""A database as one end of a move: its tables, and rows of them, in one transaction."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.addresses import SCHEMES, shown
from bot.errors import ConfigError, StorageError
from bot.storage.claim import claimed
from bot.storage.connection import BUSY_SECONDS, prepare_writer
from bot.storage.database import Row
from bot.storage.migrations import migrate_postgres

if TYPE_CHECKING:
    import psycopg

FILE = "sqlite:///"


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        columns: All of them, by name.
        key: Those of its primary key, in their order.
        filled: Those that the database can fill by itself, and that another engine may lack.
    """

    name: str
    columns: Sequence[str]
    key: Sequence[str]
    filled: frozenset[str] = frozenset()


class End(ABC):
    """An open database in which nobody else writes, inside a transaction."""

    @abstractmethod
    def tables(self) -> Sequence[Table]:
        """Return all tables, those that others refer to before them."""

    @abstractmethod
    def rows(self, sql: str, values: Sequence[Any] = ()) -> Sequence[Row]:
        """Return the rows of a query, its parameters written `?1`, `?2`."""

    @abstractmethod
    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        """Insert rows, their values in the order of the table's columns."""

    @abstractmethod
    def commit(self) -> None:
        """Bring it to disk."""


@contextmanager
def opened(address: str, *, new: bool) -> Iterator[End]:
    """Open a database by its address; what is not committed in the block is undone.

    Args:
        address: `sqlite:///relative/path`, `sqlite:////absolute/path`, or `postgresql://...`.
        new: Whether it may be made now.

    Raises:
        ConfigError: if the address is neither, or another bot works with the database.
        StorageError: if it cannot be opened.
    """
    if address.startswith(FILE):
        with _file(Path(address.removeprefix(FILE)), new=new) as end:
            yield end
    elif address.startswith(SCHEMES):
        with _server(address) as end:
            yield end
    else:
        raise ConfigError(
            f"A database is sqlite:///path or postgresql://..., not {_kind(address)}."
        )


def _kind(address: str) -> str:
    """Return what may be shown of an address that is none: it may hold a password."""
    kind, found, _ = address.partition("://")
    return repr(kind[:20]) if found and kind.isalnum() else "that"


@contextmanager
def _file(path: Path, *, new: bool) -> Iterator[End]:
    if not new and not path.is_file():
        raise StorageError(f"there is no database {path}")
    with claimed(path):
        try:
            with closing(
                sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            ) as connection:
                prepare_writer(connection)
                connection.execute("BEGIN IMMEDIATE")
                yield _File(connection)
        except (sqlite3.Error, OSError) as exc:
            raise StorageError(f"{path}: {exc}") from exc


class _File(End):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def tables(self) -> Sequence[Table]:
        # not those of an index of words, which is filled by itself
        names = self.rows(
            "SELECT name FROM sqlite_master JOIN pragma_table_list USING (name, type)"
            " WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'"
            " ORDER BY sqlite_master.rowid"
        )
        return [self._table(name) for (name,) in names]

    def _table(self, name: str) -> Table:
        columns = self.rows(
            "SELECT name, pk, type FROM pragma_table_info(?1) ORDER BY cid", (name,)
        )
        key = [column for _, column in sorted((place, each) for each, place, _ in columns if place)]
        numbers = [column for column, place, kind in columns if place and kind == "INTEGER"]
        filled = frozenset(numbers if len(key) == 1 else ())
        return Table(name, [column for column, _, _ in columns], key, filled)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> Sequence[Row]:
        return self._connection.execute(sql, values).fetchall()

    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        places = ", ".join("?" * len(table.columns))
        sql = f"INSERT INTO {_into(table)} VALUES ({places})"  # noqa: S608 - our own names
        self._connection.executemany(sql, rows)

    def commit(self) -> None:
        self._connection.execute("COMMIT")


@contextmanager
def _server(url: str) -> Iterator[End]:
    try:
        import psycopg

        from bot.storage.connecting import AtOnce, connect, join
        from bot.storage.patience import LONG_SECONDS
    except ImportError as exc:
        raise ConfigError(f"PostgreSQL needs Parley's extra postgres ({exc}).") from exc
    try:
        with closing(connect(url)) as connection:
            try:
                join(connection, alone=True)
                migrate_postgres(AtOnce(connection))
            except StorageError as exc:
                raise StorageError(f"{shown(url)}: {exc}") from exc
            connection.patience = LONG_SECONDS
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            yield _Server(connection)
    except psycopg.Error as exc:
        raise StorageError(f"{shown(url)}: {' '.join(str(exc).split())}") from exc


_TABLES = """
    SELECT c.relname, a.attname, t.typname, array_position(i.indkey::int[], a.attnum::int),
           a.attgenerated <> ''
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname <> 'schema'
    ORDER BY c.oid, a.attnum"""


class _Server(End):
    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._flags: dict[str, set[str]] = {}

    def tables(self) -> Sequence[Table]:
        found: dict[str, list[Row]] = {}
        for name, *column in self.rows(_TABLES):
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
        sql = f"INSERT INTO {_into(table)} VALUES ({places})"  # noqa: S608 - our own names
        with self._connection.cursor() as cursor:
            cursor.executemany(sql.encode(), typed)

    def commit(self) -> None:
        self._connection.execute("COMMIT")


def _table(name: str, columns: Sequence[Row]) -> Table:
    key = sorted((place, column) for column, _, place, _ in columns if place is not None)
    filled = frozenset(column for column, _, _, generated in columns if generated)
    names = [column for column, *_ in columns]
    return Table(name, names, [column for _, column in key], filled)


def _into(table: Table) -> str:
    return f"{table.name} ({', '.join(table.columns)})"
