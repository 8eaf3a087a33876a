"""Moving everything from one database into another one, of whatever engine.

The source is read as it was at one moment, and nobody else works with either; the target is written
in one transaction, and read again before it is committed. So all of it is there, or nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot.errors import StorageError
from bot.storage import ends
from bot.storage.database import Row
from bot.storage.ends import End, Table
from bot.storage.texts import kept

PAGE = 500
PAGE_OF_BLOBS = 4
"""How many rows are held at once; a blob may have some ten megabytes."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved of one table: how many rows, and their hash.

    Attributes:
        marked: In how many rows there is a mark for what not every engine can keep (see `texts`).
    """

    table: str
    rows: int
    digest: str
    marked: int = field(default=0, compare=False)


def move(
    source: str, target: str, *, told: Callable[[Moved], None] = lambda moved: None
) -> Sequence[Moved]:
    """Move everything into an empty database, and check that it is the same there.

    Args:
        source: An address as `ends` takes it; the database stays as it is.
        target: Another one; its tables are made if need be.
        told: Hears of each table that was moved, before the check.

    Raises:
        ConfigError: if an address is none, or a bot works with a database.
        StorageError: if the two are one, the target is not empty, something cannot be read or
            written, or what arrived is not the same; the target is then as it was.
    """
    if ends.is_same(source, target):
        raise StorageError("the source and the target are the same database")
    with ends.source(source) as here, ends.target(target) as there:
        pairs = _paired(here.tables(), there.tables())
        for _, table in pairs:
            if there.rows(f"SELECT 1 FROM {table.name} LIMIT 1"):  # noqa: S608 - our own names
                raise StorageError(f"the target is not empty: there are {table.name}")
        moved = []
        for from_, to in pairs:
            moved.append(_move(here, from_, there, to))
            told(moved[-1])
        for each, (_, table) in zip(moved, pairs, strict=True):
            if _measured(there, table) != each:
                raise StorageError(f"what arrived of {each.table} is not the same")
        there.commit()
    return moved


def _paired(ours: Sequence[Table], theirs: Sequence[Table]) -> Sequence[tuple[Table, Table]]:
    """Return each table as it is here and there, with the columns that both have."""
    by_name = {table.name: table for table in ours}
    if by_name.keys() != {table.name for table in theirs}:
        raise StorageError("the two databases have different tables")
    return [_shared(by_name[table.name], table) for table in theirs]


def _shared(here: Table, there: Table) -> tuple[Table, Table]:
    columns = [each for each in there.columns if each in here.columns]
    rest = {*here.columns, *there.columns} - {*columns, *here.filled, *there.filled}
    if rest:
        raise StorageError(f"the two databases have different columns in {here.name}")
    return replace(here, columns=columns), replace(there, columns=columns)


def _move(here: End, from_: Table, there: End, to: Table) -> Moved:
    count, total, marked = 0, 0, 0
    for page in _pages(here, from_):
        rows = [kept(row) for row in page]
        there.insert(to, rows)
        count, total = count + len(rows), total + sum(map(_number, rows))
        marked += sum(row != was for row, was in zip(rows, page, strict=True))
    return _summed(to, count, total, marked)


def _measured(end: End, table: Table) -> Moved:
    count, total = 0, 0
    for page in _pages(end, table):
        count, total = count + len(page), total + sum(map(_number, page))
    return _summed(table, count, total)


def _summed(table: Table, count: int, total: int, marked: int = 0) -> Moved:
    return Moved(table.name, count, f"{total % 2**256:064x}", marked)


def _number(row: Row) -> int:
    """Return the hash of a row; a table's is the sum, since each engine has its own order."""
    digest = hashlib.sha256()
    for value in map(_plain, row):
        text = value if isinstance(value, bytes) else repr(value).encode()
        digest.update(f"{type(value).__name__} {len(text)} ".encode())
        digest.update(text)
    return int.from_bytes(digest.digest(), "big")


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


def _pages(end: End, table: Table) -> Iterator[Sequence[Row]]:
    """Read a table in the order of its key."""
    key, columns = ", ".join(table.key), ", ".join((*table.columns, *table.key))
    width, size = len(table.columns), PAGE_OF_BLOBS if "data" in table.columns else PAGE
    after: Sequence[Any] = ()
    while True:
        marks = ", ".join(f"?{number + 1}" for number in range(len(after)))
        where = f" WHERE ({key}) > ({marks})" if after else ""
        sql = f"SELECT {columns} FROM {table.name}{where} ORDER BY {key} LIMIT {size}"  # noqa: S608
        page = end.rows(sql, after)
        if page:
            yield [row[:width] for row in page]
        if len(page) < size:
            return
        after = page[-1][width:]
