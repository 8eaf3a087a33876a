from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from bot.errors import StorageError
from bot.storage import Connection, SQLiteDatabase, migrations
from tests.storage.together import held_back

INSERT = "INSERT INTO marks VALUES (?, '')"
COUNT = "SELECT count(*) FROM marks"

Job = Callable[[Connection], str]


def insert(key: str, fault: Exception | None = None) -> Job:
    def job(connection: Connection) -> str:
        connection.execute(INSERT, (key,))
        if fault is not None:
            raise fault
        return key

    return job


async def count(database: SQLiteDatabase) -> int:
    rows = await database.fetch(COUNT)
    return int(rows[0][0])


# -- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [None, LookupError("in the middle")])
async def test_what_a_job_leaves_unread_keeps_no_old_view_of_the_database(
    fault: Exception | None, database: SQLiteDatabase
) -> None:
    await database.execute("INSERT INTO marks VALUES ('a', ''), ('b', '')")
    unread = []

    def job(connection: Connection) -> None:
        unread.append(connection.execute("SELECT * FROM marks"))
        if fault is not None:
            raise fault

    with nullcontext() if fault is None else pytest.raises(LookupError):
        await database.read(job)
    await database.execute(INSERT, ("c",))
    assert await count(database) == 3


# -- opening and closing ---------------------------------------------------------------------------


async def test_the_file_is_made_when_first_used(tmp_path: Path) -> None:
    database = SQLiteDatabase(tmp_path / "new" / "data.db")
    assert not database.path.parent.exists()
    await database.execute(INSERT, ("a",))
    await database.close()
    assert database.path.exists()


async def test_closed_it_opens_again(database: SQLiteDatabase) -> None:
    await database.execute(INSERT, ("a",))
    await database.close()
    assert await count(database) == 1


async def test_what_was_asked_before_closing_is_done(database: SQLiteDatabase) -> None:
    await database.open()
    writes = [asyncio.create_task(database.execute(INSERT, (str(n),))) for n in range(20)]
    await asyncio.sleep(0)
    await database.close()
    await asyncio.gather(*writes)
    assert await count(database) == 20


async def test_many_first_users_open_it_once(database: SQLiteDatabase) -> None:
    await asyncio.gather(*(database.execute(INSERT, (str(n),)) for n in range(10)))
    assert await count(database) == 10


def test_it_serves_one_event_loop_after_another(tmp_path: Path) -> None:
    database = SQLiteDatabase(tmp_path / "data.db")

    async def use(key: str) -> None:
        await asyncio.gather(database.execute(INSERT, (key,)), count(database))

    async def close() -> int:
        found = await count(database)
        await database.close()
        return found

    asyncio.run(use("a"))
    asyncio.run(use("b"))
    assert asyncio.run(close()) == 2


def test_a_database_in_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="InMemorySessionManager"):
        SQLiteDatabase(":memory:")


async def test_it_is_durable_and_checks_references(database: SQLiteDatabase) -> None:
    pragmas = ("journal_mode", "synchronous", "foreign_keys")
    found = await database.write(
        lambda connection: [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas]
    )
    assert found == ["wal", 2, 1]


async def test_a_caller_cancelled_while_it_opens_leaves_it_usable(database: SQLiteDatabase) -> None:
    opening = asyncio.create_task(database.open())
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert await count(database) == 0


async def test_a_writer_is_not_left_open_when_the_reader_cannot_be(
    database: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(connection: Connection) -> None:
        connection.execute("nonsense")

    with monkeypatch.context() as patch:
        patch.setattr("bot.storage.connection.prepare_reader", refuse)
        with pytest.raises(StorageError, match="nonsense"):
            await database.open()
    await database.open()
    await database.open()
    assert database.transactions == 0


async def test_a_new_file_that_another_program_locks_is_waited_for_but_not_for_ever(
    database: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.connection.BUSY_SECONDS", 0.05)
    other = sqlite3.connect(database.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StorageError, match="BUSY"):
        await database.open()
    other.execute("ROLLBACK")
    other.close()
    assert await count(database) == 0


# -- what cannot be read or written ----------------------------------------------------------------


async def test_a_file_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    path.write_bytes(b"These are my notes. " * 100)
    with pytest.raises(StorageError, match="NOTADB"):
        await SQLiteDatabase(path).open()
    assert path.read_bytes().startswith(b"These are my notes.")


async def test_a_path_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="CANTOPEN"):
        await SQLiteDatabase(tmp_path).open()
    (tmp_path / "file").touch()
    with pytest.raises(StorageError):
        await SQLiteDatabase(tmp_path / "file" / "data.db").open()


async def test_a_newer_schema_is_refused_and_left_alone(database: SQLiteDatabase) -> None:
    await database.write(lambda connection: connection.execute("PRAGMA user_version = 99").close())
    await database.close()
    with pytest.raises(StorageError, match="newer"):
        await database.open()


async def test_a_migration_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE marks (other)")
    with pytest.raises(StorageError, match="marks"):
        await SQLiteDatabase(path).open()
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)
    connection.close()


async def test_an_error_of_sqlite_is_a_storage_error(database: SQLiteDatabase) -> None:
    with pytest.raises(StorageError, match="SQLITE_CONSTRAINT"):
        await database.execute_many(INSERT, [("a",), ("a",)])
    with pytest.raises(StorageError):
        await database.fetch("SELECT * FROM nowhere")
    assert await count(database) == 0


async def test_the_reader_cannot_write(database: SQLiteDatabase) -> None:
    with pytest.raises(StorageError, match="READONLY"):
        await database.fetch("DELETE FROM marks")


async def test_a_lock_of_another_program_is_an_error_when_it_lasts(
    database: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.connection.BUSY_SECONDS", 0.01)
    await database.open()
    other = sqlite3.connect(database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    results = await asyncio.gather(
        *(database.execute(INSERT, (str(n),)) for n in range(3)), return_exceptions=True
    )
    assert all(isinstance(result, StorageError) for result in results)
    other.execute("ROLLBACK")
    other.close()
    assert await database.execute(INSERT, ("a",)) == 1


async def test_a_full_database_is_an_error_and_goes_on_when_there_is_room(
    database: SQLiteDatabase,
) -> None:
    pages = "PRAGMA max_page_count = {}"
    await database.write(lambda connection: connection.execute(pages.format(1)).close())
    with pytest.raises(StorageError, match="FULL"):
        await database.execute(INSERT, ("x" * 1_000_000,))
    await database.write(lambda connection: connection.execute(pages.format(10**6)).close())
    assert await database.execute(INSERT, ("a",)) == 1


# -- transactions shared by many -------------------------------------------------------------------


async def test_what_waits_together_is_committed_together(database: SQLiteDatabase) -> None:
    await database.open()
    await asyncio.gather(*(database.execute(INSERT, (str(n),)) for n in range(200)))
    assert await count(database) == 200
    assert database.transactions <= 3


async def test_a_job_that_fails_fails_alone(database: SQLiteDatabase) -> None:
    results = await held_back(
        database, insert("a"), insert("b", LookupError("mine")), insert("c"), insert("c")
    )
    assert results[0] == "a"
    assert isinstance(results[1], LookupError)
    assert results[2] == "c"
    assert isinstance(results[3], StorageError)
    assert await count(database) == 2


async def test_a_row_that_was_insisted_on_and_is_not_there_fails_its_own_job_alone(
    database: SQLiteDatabase,
) -> None:
    def change(key: str) -> Job:
        def job(connection: Connection) -> str:
            sql = "UPDATE marks SET value = 'changed' WHERE key = ?"
            connection.insist(sql, (key,), lambda: LookupError(key))
            return key

        return job

    await database.execute(INSERT, ("a",))
    results = await held_back(database, change("a"), change("missing"))
    assert results[0] == "a"
    assert isinstance(results[1], LookupError)


async def test_a_row_that_clashes_with_another_fails_its_own_job_alone(
    database: SQLiteDatabase,
) -> None:
    def put(key: str | None) -> Callable[[Connection], None]:
        return lambda connection: connection.insert(INSERT, (key,), lambda: LookupError(key))

    await database.execute(INSERT, ("a",))
    results = await held_back(database, put("b"), put("a"), put(None), put("c"))
    assert [type(result) for result in results] == [
        *(type(None), LookupError, StorageError, type(None))
    ]
    assert await count(database) == 3


async def test_reads_see_every_write_that_returned_before(database: SQLiteDatabase) -> None:
    async def write_then_read(number: int) -> bool:
        await database.execute(INSERT, (str(number),))
        rows = await database.fetch("SELECT 1 FROM marks WHERE key = ?", (str(number),))
        return bool(rows)

    assert all(await asyncio.gather(*(write_then_read(number) for number in range(50))))


@pytest.mark.parametrize("position", [0, 1, 2])
async def test_a_cancelled_caller_waits_for_the_end_and_hears_it(
    database: SQLiteDatabase, position: int
) -> None:
    await database.open()
    heard: list[str] = []
    gate = threading.Event()
    first = asyncio.create_task(database.write(lambda _: gate.wait(30)))
    await asyncio.sleep(0)
    tasks = [asyncio.create_task(database.write(insert(n), heard.append)) for n in "abc"]
    await asyncio.sleep(0)
    for _ in range(2):  # also twice
        tasks[position].cancel()
        await asyncio.sleep(0)
    assert not any(task.done() for task in tasks)
    gate.set()
    assert await first
    results = await asyncio.gather(*tasks, return_exceptions=True)
    cancelled = [isinstance(result, asyncio.CancelledError) for result in results]
    assert cancelled == [number == position for number in range(3)]
    assert sorted(heard) == ["a", "b", "c"]
    assert await count(database) == 3


async def test_everybody_cancelled_at_once_leaves_everything_done(database: SQLiteDatabase) -> None:
    await database.open()
    tasks = [asyncio.create_task(database.execute(INSERT, (str(n),))) for n in range(20)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert await count(database) == 20


async def test_a_caller_cancelled_before_it_began_does_nothing(database: SQLiteDatabase) -> None:
    await database.open()
    task = asyncio.create_task(database.execute(INSERT, ("a",)))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await count(database) == 0


def test_migrations_are_numbered_without_gaps() -> None:
    numbers = [int(script.name.split("_")[0]) for script in migrations.scripts()]
    assert numbers == list(range(1, len(numbers) + 1))
