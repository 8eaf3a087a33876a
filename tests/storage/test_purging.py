"""Purging: by whom, how often, and what stands in its way."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from bot.errors import StorageError
from bot.storage import SQLiteDatabase, connection
from bot.storage.purging import Purging, scrubbed

ROWS, EACH = 3000, 10


async def test_who_asks_at_the_same_time_shares_a_purge() -> None:
    purging, begun, may_end = Purging(), [0], asyncio.Event()

    async def work() -> None:
        begun[0] += 1
        await may_end.wait()

    first = asyncio.create_task(purging.purge(work))
    await asyncio.sleep(0)
    others = [asyncio.create_task(purging.purge(work)) for _ in range(5)]
    await asyncio.sleep(0)
    may_end.set()
    await asyncio.gather(first, *others)
    assert begun == [2]  # the first began before the others had asked


async def test_a_purge_that_failed_is_made_by_the_next_who_asks() -> None:
    purging, failures = Purging(), [StorageError("full")]

    async def work() -> None:
        if failures:
            raise failures.pop()

    with pytest.raises(StorageError):
        await purging.purge(work)
    await purging.purge(work)
    assert not failures


async def test_a_purge_while_others_write_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.05)
    database = SQLiteDatabase(tmp_path / "parley.db")
    await database.open()
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="locked"):
            await database.purge()
        other.execute("ROLLBACK")
    await database.purge()
    await database.close()


# -- what is in the file ---------------------------------------------------------------------------


async def filled(database: SQLiteDatabase) -> None:
    """Fill a table as conversations do: rows of many sizes come in between others."""
    rng = random.Random(6)  # noqa: S311 - the same each time
    places = list(range(ROWS))
    rng.shuffle(places)
    await database.execute(
        "CREATE TABLE said (id TEXT, n INTEGER, text TEXT, PRIMARY KEY (id, n)) WITHOUT ROWID"
    )
    for start in range(0, ROWS, 50):
        await database.execute_many(
            "INSERT INTO said VALUES (?, ?, ?)",
            [(f"s{n % 7}", n, text(n, rng)) for n in places[start : start + 50]],
        )


def text(number: int, rng: random.Random) -> str:
    who = "alice" if number % EACH == 0 else "bob"
    return f"<{who}-{number:05}>{'x' * rng.choice([5, 50, 900, 3000])}<{who}-{number:05}>"


async def erased(database: SQLiteDatabase) -> None:
    """Erase what alice said, a few at a time."""
    for start in range(0, ROWS, 10 * EACH):
        rows = [(f"s{n % 7}", n) for n in range(start, start + 10 * EACH, EACH)]
        await database.execute_many("UPDATE said SET text = '' WHERE id = ? AND n = ?", rows)


async def rows_of(database: SQLiteDatabase) -> Sequence[object]:
    return await database.fetch("SELECT * FROM said ORDER BY id, n")


def in_files(database: SQLiteDatabase) -> bytes:
    files = [database.path, *(Path(f"{database.path}{end}") for end in ("-wal", "-shm"))]
    return b"".join(each.read_bytes() for each in files)


async def test_a_purge_leaves_all_but_what_was_erased(database: SQLiteDatabase) -> None:
    await filled(database)
    await erased(database)
    rows = await rows_of(database)
    assert b"<alice-" in in_files(database)
    await database.purge()
    assert b"<alice-" not in in_files(database)
    assert await rows_of(database) == rows
    assert await database.fetch("PRAGMA integrity_check") == [("ok",)]


async def test_writes_go_on_during_a_purge_and_bring_nothing_back(
    database: SQLiteDatabase,
) -> None:
    await filled(database)
    await erased(database)
    rows = await rows_of(database)
    purging, written = asyncio.create_task(database.purge()), 0
    while not purging.done():
        row = (f"s{written % 7}", ROWS + written, f"new {written}" * (written % 200))
        await database.execute("INSERT INTO said VALUES (?, ?, ?)", row)
        written += not purging.done()
    await purging
    assert written > 5
    await database.execute("DELETE FROM said WHERE n > ?", (ROWS,))
    await database.execute("DELETE FROM said WHERE n = ?", (ROWS,))
    assert await rows_of(database) == rows
    assert b"<alice-" not in in_files(database)
    assert await database.fetch("PRAGMA integrity_check") == [("ok",)]


async def test_a_file_whose_pages_cannot_be_told_apart_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    with closing(sqlite3.connect(path)) as first:
        first.execute("PRAGMA auto_vacuum = INCREMENTAL")
        first.execute("CREATE TABLE first (x)")
    database = SQLiteDatabase(path)
    await filled(database)
    await erased(database)
    rows = await rows_of(database)
    await database.purge()
    assert b"<alice-" not in in_files(database)
    assert await rows_of(database) == rows
    await database.close()


async def test_who_reads_what_was_erased_holds_up_a_purge(database: SQLiteDatabase) -> None:
    await filled(database)
    with closing(sqlite3.connect(database.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM said").fetchone()
        await erased(database)
        with pytest.raises(StorageError, match="still in the file"):
            await scrubbed(database.path, locked=1, read=0)
        reader.execute("COMMIT")
    await scrubbed(database.path, locked=1, read=0)


async def test_a_purge_that_is_not_wanted_any_more_ends_its_program(
    database: SQLiteDatabase,
) -> None:
    await filled(database)
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # so that it would wait
        purging = asyncio.create_task(database.purge())
        await asyncio.sleep(0.1)
        purging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await purging
        other.execute("ROLLBACK")
