"""Purging: by whom, how often, and what stands in its way."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.errors import StorageError
from bot.storage import SQLiteDatabase, connection
from bot.storage.purging import Purging


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
