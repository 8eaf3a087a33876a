"""A disk that is full, read-only, gone or locked, and what is left when it is well again."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from bot.errors import StorageError
from bot.events import UserMessageEvent
from bot.sessions import Session, SQLiteSessionManager
from bot.storage import SQLiteDatabase
from bot.storage.connection import prepare_writer
from tests.disks import fill, mounted, remount

INSERT = "INSERT INTO marks VALUES (?, ?)"
COUNT = "SELECT count(*) FROM marks"
BIG = "x" * 100_000

LIMITED = """
import asyncio, resource, sys
from bot.errors import StorageError
from bot.storage import SQLiteDatabase

INSERT = "INSERT INTO marks VALUES (?, ?)"

async def main():
    database = SQLiteDatabase(sys.argv[1])
    await database.execute(INSERT, ("first", ""))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    stored, refused = 0, 0
    for number in range(20):
        try:
            await database.execute(INSERT, (str(number), "x" * 50_000))
            stored += 1
        except StorageError as exc:
            refused += 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    await database.execute(INSERT, ("last", ""))
    [(count,)] = await database.fetch("SELECT count(*) FROM marks")
    await database.close()
    print(stored > 0, refused > 0, count == stored + 2)

asyncio.run(main())
"""


async def count(database: SQLiteDatabase) -> int:
    rows = await database.fetch(COUNT)
    return int(rows[0][0])


async def test_a_full_disk_is_an_error_until_there_is_room_again(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk") as folder:
        database = SQLiteDatabase(folder / "data.db")
        await database.execute(INSERT, ("first", ""))
        filler = fill(folder)
        results = await asyncio.gather(
            *(database.execute(INSERT, (str(n), BIG)) for n in range(5)), return_exceptions=True
        )
        assert all(isinstance(each, StorageError) for each in results)
        assert await count(database) == 1
        filler.unlink()
        await database.execute(INSERT, ("last", BIG))
        assert await count(database) == 2
        await database.close()


async def test_a_full_disk_at_the_start_is_an_error_and_the_next_start_goes_on(
    tmp_path: Path,
) -> None:
    with mounted(tmp_path / "disk") as folder:
        filler = fill(folder)
        database = SQLiteDatabase(folder / "data.db")
        with pytest.raises(StorageError):
            await database.execute(INSERT, ("first", ""))
        filler.unlink()
        await database.execute(INSERT, ("first", ""))
        assert await count(database) == 1
        await database.close()


def test_a_file_that_may_not_grow_is_an_error_until_it_may(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", LIMITED, str(tmp_path / "data.db")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("True True True\n", "")


async def test_a_disk_that_is_read_only_is_an_error_until_it_is_not(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk") as folder:
        database = SQLiteDatabase(folder / "data.db")
        await database.execute(INSERT, ("first", ""))
        await database.close()
        remount(folder, "ro")
        with pytest.raises(StorageError, match="read-only"):
            await database.open()
        remount(folder, "rw")
        await database.execute(INSERT, ("last", ""))
        assert await count(database) == 2
        await database.close()


async def test_a_connection_that_met_a_fault_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    database = SQLiteDatabase(path)
    await database.execute(INSERT, ("first", ""))
    await database.write(lambda connection: connection.execute("PRAGMA query_only = ON").close())
    with pytest.raises(StorageError, match="READONLY"):
        await database.execute(INSERT, ("a", ""))
    await database.execute(INSERT, ("b", ""))
    assert await count(database) == 2
    await database.close()


async def test_many_that_meet_a_fault_at_once_all_hear_it_and_go_on(tmp_path: Path) -> None:
    database = SQLiteDatabase(tmp_path / "data.db")
    await database.open()
    await database.write(lambda connection: connection.execute("PRAGMA query_only = ON").close())

    async def twice(key: str) -> int:
        try:
            return await database.execute(INSERT, (key, ""))
        except StorageError:
            return await database.execute(INSERT, (key, ""))

    assert sum(await asyncio.gather(*(twice(str(n)) for n in range(50)))) == 50
    assert await count(database) == 50
    await database.close()


async def test_a_file_that_went_away_is_not_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    database = SQLiteDatabase(folder / "data.db")
    await database.execute(INSERT, ("first", ""))
    await database.write(lambda connection: connection.execute("PRAGMA query_only = ON").close())
    folder.rename(tmp_path / "elsewhere")  # as a disk that is not mounted any more
    for _ in range(2):
        with pytest.raises(StorageError):
            await database.execute(INSERT, ("a", ""))
    with pytest.raises(StorageError, match="CANTOPEN"):
        await database.execute(INSERT, ("a", ""))
    assert not folder.exists()
    (tmp_path / "elsewhere").rename(folder)
    await database.execute(INSERT, ("last", ""))
    assert await count(database) == 2
    await database.close()


async def test_a_file_cut_in_half_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    manager = SQLiteSessionManager(path)
    for number in range(50):
        session = Session(f"s{number}")
        session.append(UserMessageEvent(text="hello " * 1_000))
        await manager.save(session)
    await manager.close()
    os.truncate(path, path.stat().st_size // 2)
    other = SQLiteSessionManager(path)
    reading = (other.get_or_create(f"s{number}") for number in range(50))
    results = await asyncio.gather(*reading, return_exceptions=True)
    assert {type(each) for each in results if not isinstance(each, Session)} == {StorageError}
    assert all(each.events for each in results if isinstance(each, Session))
    await other.close()


async def test_a_file_that_was_emptied_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    manager = SQLiteSessionManager(path)
    await manager.create("s")
    await manager.register()
    await manager.close()
    os.truncate(path, 0)
    other = SQLiteSessionManager(path)
    with pytest.raises(StorageError, match="restore a backup"):
        await other.get_or_create("s")
    path.unlink()  # a decision
    assert await other.get("s") is None
    await other.close()


async def test_while_another_program_writes_for_long_reading_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.connection.BUSY_SECONDS", 0.5)
    database = SQLiteDatabase(tmp_path / "data.db")
    await database.execute(INSERT, ("first", ""))
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writing = asyncio.create_task(database.execute(INSERT, ("a", "")))
        assert await count(database) == 1
        with pytest.raises(StorageError, match="locked"):
            await writing
    await database.close()


async def test_what_waits_for_another_program_is_written_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, begins = asyncio.get_running_loop(), asyncio.Event()

    def told(statement: str) -> None:
        if statement.startswith("BEGIN"):
            loop.call_soon_threadsafe(begins.set)

    def prepare(connection: sqlite3.Connection) -> None:
        prepare_writer(connection)
        connection.set_trace_callback(told)

    monkeypatch.setattr("bot.storage.connection.prepare_writer", prepare)
    database = SQLiteDatabase(tmp_path / "data.db")
    await database.open()
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(database.execute(INSERT, ("a", "")))
        await begins.wait()
        assert not waiting.done()
        other.execute("COMMIT")
        await waiting
    assert await count(database) == 1
    await database.close()


async def test_a_newer_file_is_named(tmp_path: Path) -> None:
    database = SQLiteDatabase(tmp_path / "data.db")
    await database.write(lambda connection: connection.execute("PRAGMA user_version = 99").close())
    await database.close()
    with pytest.raises(StorageError, match=r"data\.db: a newer Parley made this database"):
        await database.open()


async def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "elsewhere" / "data.db")
    direct = SQLiteSessionManager(tmp_path / "elsewhere" / "data.db")
    await direct.create("s")
    assert (await direct.lease("s", await direct.register())).taken
    linked = SQLiteSessionManager(tmp_path / "link.db")
    assert not (await linked.lease("s", await linked.register())).taken
    await linked.close()
    await direct.close()
