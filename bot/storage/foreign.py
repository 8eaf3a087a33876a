"""Reading SQLite files that other programs made; nothing is written to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bot.errors import TransferError

Row = dict[str, Any]


class ForeignFile:
    """A file that is open for reading."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def columns(self, table: str) -> Sequence[str]:
        """Return the names of a table's columns; none if there is no such table."""
        rows = self._connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return [name for (name,) in rows]

    def rows(self, sql: str, *values: object) -> Iterator[Row]:
        """Give the rows of a query by the names of their columns."""
        cursor = self._connection.execute(sql, values)
        names = [column[0] for column in cursor.description]
        for row in cursor:
            yield dict(zip(names, row, strict=True))


@contextmanager
def foreign(path: Path) -> Iterator[ForeignFile]:
    """Open a file while the block lasts.

    Raises:
        TransferError: if it cannot be read, also within the block.
    """
    uri = f"file:{quote(str(path.resolve()))}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            yield ForeignFile(connection)
    except sqlite3.Error as exc:
        raise TransferError(f"{path}: {exc}") from exc
