"""A SQLite file as one end of a move."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bot.errors import StorageError
from bot.storage.claim import claimed, unclaimed
from bot.storage.connection import BUSY_SECONDS
from bot.storage.database import Row
from bot.storage.ends.end import End, Table
from bot.storage.migrations import apply, check_newest, own_tables, version
from bot.storage.private import make_private

BESIDE = ("-journal", "-wal", "-shm")


class File:
    """A file, by its path."""

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()

    def identity(self) -> object:
        """Return what no other file has."""
        if not self._path.exists():
            return self._path
        found = self._path.stat()
        return found.st_dev, found.st_ino

    @contextmanager
    def source(self) -> Iterator[End]:
        """Open it to be read; on a medium that cannot be written nobody has to be kept away."""
        path = self._path
        if not path.is_file():
            raise StorageError(f"there is no database {path}")
        fixed = bool(os.statvfs(path).f_flag & os.ST_RDONLY)
        with unclaimed(path) if fixed else claimed(path), self._told():
            with closing(self._connect(_as_it_is(path) if fixed else "mode=rw")) as connection:
                check_newest(version(connection))
                connection.execute("BEGIN" if fixed else "BEGIN IMMEDIATE")
                yield _FileEnd(connection)

    @contextmanager
    def target(self) -> Iterator[End]:
        """Open it to be filled; one that was made for it goes again unless it was."""
        with claimed(self._path), self._told():
            made = make_private(self._path)
            try:
                with closing(self._connect("mode=rw")) as connection:
                    connection.execute("PRAGMA foreign_keys = ON")
                    connection.execute("BEGIN IMMEDIATE")
                    apply(connection)
                    yield _FileEnd(connection)
                    made = made and connection.in_transaction
            finally:
                if made:
                    self._remove()

    def _connect(self, how: str) -> sqlite3.Connection:
        uri = f"file:{quote(str(self._path))}?{how}"
        return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as exc:
            raise StorageError(f"{self._path}: {exc}") from exc

    def _remove(self) -> None:
        for end in ("", *BESIDE):
            self._path.with_name(f"{self._path.name}{end}").unlink(missing_ok=True)


def _as_it_is(path: Path) -> str:
    """Return how a file is opened where nothing can be written, not even beside it."""
    log = path.with_name(f"{path.name}-wal")
    return "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"


class _FileEnd(End):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def tables(self) -> Sequence[Table]:
        return [self._table(name) for name in own_tables()]

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
        sql = f"INSERT INTO {table.into} VALUES ({places})"  # noqa: S608 - our own names
        self._connection.executemany(sql, rows)

    def commit(self) -> None:
        self._connection.execute("COMMIT")
