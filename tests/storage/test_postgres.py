"""What is particular to a PostgreSQL database."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from bot.errors import StorageError
from bot.storage import Connection, Later, PostgresDatabase, SQLiteDatabase
from tests.postgres import Server, serving
from tests.proxies import Proxy
from tests.storage.together import errors_of_many, held_back

INSERT = "INSERT INTO marks (key, value) VALUES (?, '')"
COUNT = "SELECT count(*) FROM marks"
PID = "SELECT pg_backend_pid()"

OPEN_AND_WRITE = """
import asyncio, sys
from bot.storage import PostgresDatabase

async def main():
    database = PostgresDatabase(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.read(1)
    await database.execute("INSERT INTO marks (key, value) VALUES (?, '')", (sys.argv[2],))
    await database.close()

asyncio.run(main())
"""


@pytest.fixture
async def database(postgres: Server) -> AsyncIterator[PostgresDatabase]:
    database = PostgresDatabase(postgres.new_database())
    yield database
    await database.close()


async def count(database: PostgresDatabase) -> int:
    rows = await database.fetch(COUNT)
    return int(rows[0][0])


async def pids(database: PostgresDatabase) -> list[int]:
    writer = await database.write(lambda connection: connection.execute(PID).fetchone()[0])
    [(reader,)] = await database.fetch(PID)
    return [writer, reader]


def terminate(server: Server, *victims: int) -> None:
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        for pid in victims:
            connection.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,))


# -- connections that are lost ---------------------------------------------------------------------


async def test_a_connection_lost_between_two_jobs_is_made_again(
    database: PostgresDatabase, postgres: Server
) -> None:
    await database.execute(INSERT, ("a",))
    await asyncio.to_thread(terminate, postgres, *await pids(database))
    assert await count(database) == 1
    assert await database.execute(INSERT, ("b",)) == 1


async def test_a_connection_lost_in_the_middle_of_a_job_loses_nothing(
    database: PostgresDatabase, postgres: Server
) -> None:
    attempts = []

    def job(connection: Connection) -> int:
        attempts.append(connection.execute(PID).fetchone()[0])
        connection.execute(INSERT, ("a",))
        if len(attempts) == 1:
            terminate(postgres, attempts[0])
        return connection.execute(INSERT, ("b",)).rowcount

    assert await database.write(job) == 1
    assert len(set(attempts)) == 2
    assert await count(database) == 2


async def test_a_connection_lost_while_reading_is_made_again(
    database: PostgresDatabase, postgres: Server
) -> None:
    attempts = []

    def job(connection: Connection) -> int:
        attempts.append(connection.execute(PID).fetchone()[0])
        if len(attempts) == 1:
            terminate(postgres, attempts[0])
        number: int = connection.execute(COUNT).fetchone()[0]
        return number

    assert await database.read(job) == 0


async def test_a_commit_of_which_nothing_was_heard_is_an_error_and_not_done_twice(
    postgres: Server,
) -> None:
    loop, runs = asyncio.get_running_loop(), []

    def job(connection: Connection) -> None:
        runs.append(connection)
        connection.execute("INSERT INTO ledger VALUES ('paid')").close()

    @contextmanager
    def cut(point: str) -> Iterator[None]:
        asyncio.run_coroutine_threadsafe(proxy.cut(), loop).result(30)
        yield

    async with Proxy(postgres.new_database()).serving() as proxy:
        database = PostgresDatabase(proxy.url)
        await database.execute("CREATE TABLE ledger (text TEXT)")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("bot.storage.postgres_connection.around", cut)
            results = await asyncio.gather(
                *(database.write(job) for _ in range(2)), return_exceptions=True
            )
        assert [type(result) for result in results] == [StorageError, StorageError]
        assert len(runs) == 2
        assert await database.fetch("SELECT * FROM ledger") == []
        await database.close()


async def test_what_the_server_has_told_that_it_did_not_run_is_run_again(
    database: PostgresDatabase, postgres: Server
) -> None:
    await database.execute("CREATE TABLE ledger (text TEXT)")
    [writer, _] = await pids(database)
    runs = []

    def job(connection: Connection) -> None:
        runs.append(connection)
        connection.execute("INSERT INTO ledger VALUES ('paid')").close()

    @contextmanager
    def end(point: str) -> Iterator[None]:
        if len(runs) == 1:
            terminate(postgres, writer)
        yield

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.storage.postgres_connection.around", end)
        await database.write(job)
    assert len(runs) == 2
    assert await database.fetch("SELECT * FROM ledger") == [("paid",)]


async def test_while_the_server_is_gone_it_is_an_error_and_afterwards_it_goes_on() -> None:
    with serving() as server:
        database = PostgresDatabase(server.new_database())
        await database.execute(INSERT, ("a",))
        await asyncio.to_thread(server.stop)
        for _ in range(2):
            with pytest.raises(StorageError):
                await database.execute(INSERT, ("lost",))
            with pytest.raises(StorageError):
                await count(database)
        await asyncio.to_thread(server.start)
        assert await database.execute(INSERT, ("b",)) == 1
        assert await count(database) == 2
        await database.close()


async def test_many_jobs_in_flight_survive_a_lost_connection(
    database: PostgresDatabase, postgres: Server
) -> None:
    writer, _ = await pids(database)
    gate = threading.Event()

    def patient(connection: Connection) -> None:
        gate.wait(30)
        connection.execute(COUNT)

    first = asyncio.create_task(database.write(patient))
    await asyncio.sleep(0)
    others = [asyncio.create_task(database.execute(INSERT, (str(n),))) for n in range(50)]
    await asyncio.to_thread(terminate, postgres, writer)
    gate.set()
    await asyncio.gather(first, *others)
    assert await count(database) == 50


async def test_what_waits_when_a_lost_connection_is_noticed_is_still_committed_together(
    database: PostgresDatabase, postgres: Server
) -> None:
    await asyncio.to_thread(terminate, postgres, *await pids(database))
    before = database.transactions
    await asyncio.gather(*(database.execute(INSERT, (str(n),)) for n in range(50)))
    assert await count(database) == 50
    assert database.transactions - before <= 2


# -- transactions shared by many -------------------------------------------------------------------


def insert(key: str) -> Callable[[Connection], str]:
    def job(connection: Connection) -> str:
        connection.execute(INSERT, (key,)).close()
        return key

    return job


def change(key: str) -> Callable[[Connection], str]:
    def job(connection: Connection) -> str:
        sql = "UPDATE marks SET value = 'changed' WHERE key = ?"
        connection.insist(sql, (key,), lambda: LookupError(key))
        connection.execute(INSERT, (f"{key} after",)).close()
        return key

    return job


async def test_what_waits_together_is_committed_together(database: PostgresDatabase) -> None:
    jobs = [insert(str(number)) for number in range(200)]
    assert await held_back(database, *jobs) == [str(number) for number in range(200)]
    assert await count(database) == 200
    assert database.transactions <= 2


async def test_a_job_that_looks_at_nothing_before_its_end_asks_the_server_once(
    postgres: Server,
) -> None:
    async with Proxy(postgres.new_database()).serving() as proxy:
        database = PostgresDatabase(proxy.url)
        await database.execute(INSERT, ("a",))
        written, read = (line.asked for line in proxy.lines)
        await database.write(change("a"))
        assert await database.execute(INSERT, ("b",)) == 1
        assert await count(database) == 3
        assert [line.asked for line in proxy.lines] == [written + 2, read + 1]
        await database.close()


async def test_who_cannot_tell_what_was_read_fails_alone(database: PostgresDatabase) -> None:
    await database.execute(INSERT, ("a",))

    async def read(column: int) -> str:
        def job(connection: Connection) -> Later[str]:
            found = connection.execute("SELECT key FROM marks")
            return Later(lambda: str(found.fetchone()[column]))

        return await database.read(job)

    results = await asyncio.gather(*map(read, (0, 1, 0)), return_exceptions=True)
    assert results[::2] == ["a", "a"]
    assert isinstance(results[1], IndexError)


async def test_a_statement_nobody_looked_at_fails_its_own_job_alone(
    database: PostgresDatabase,
) -> None:
    results = await held_back(
        database,
        insert("a"),
        insert("a"),
        lambda connection: connection.execute("nonsense").close(),
        lambda connection: connection.execute(INSERT, (object(),)).close(),
        lambda connection: connection.execute(COUNT).fetchone()[0],
        insert("b"),
    )
    assert [type(result) for result in results] == [
        *(str, StorageError, StorageError, StorageError, int, str)
    ]
    assert "duplicate key" in str(results[1])
    assert await count(database) == 2


async def test_a_row_that_was_insisted_on_and_is_not_there_fails_its_own_job_alone(
    database: PostgresDatabase,
) -> None:
    await database.execute_many(INSERT, [("a",), ("b",)])
    results = await held_back(database, change("a"), change("missing"), change("b"))
    assert results[::2] == ["a", "b"]
    assert isinstance(results[1], LookupError)
    keys = await database.fetch("SELECT key FROM marks ORDER BY key")
    assert [key for (key,) in keys] == ["a", "a after", "b", "b after"]


async def test_a_row_that_clashes_with_another_fails_its_own_job_alone(
    database: PostgresDatabase,
) -> None:
    def put(key: str | None) -> Callable[[Connection], None]:
        return lambda connection: connection.insert(INSERT, (key,), lambda: LookupError(key))

    await database.execute(INSERT, ("a",))
    results = await held_back(database, put("b"), put("a"), put(None), put("c"))
    assert [type(result) for result in results] == [
        *(type(None), LookupError, StorageError, type(None))
    ]
    assert await count(database) == 3


async def test_to_insist_on_one_row_and_change_several_is_a_failure_too(
    database: PostgresDatabase,
) -> None:
    await database.execute_many(INSERT, [("a",), ("b",)])

    def job(connection: Connection) -> None:
        connection.insist("UPDATE marks SET value = ?", ("changed",), LookupError)

    with pytest.raises(LookupError):
        await database.write(job)
    assert await database.fetch("SELECT DISTINCT value FROM marks") == [("",)]


async def test_a_lock_taken_beside_a_job_that_fails_is_free_once_it_is_given_back(
    database: PostgresDatabase,
) -> None:
    await database.open()

    async def use() -> None:
        async with database.alone("it"):
            pass

    gate = threading.Event()
    first = asyncio.create_task(database.write(lambda _: gate.wait(30)))
    await asyncio.sleep(0)
    failing = asyncio.create_task(database.write(change("missing")))
    using = asyncio.create_task(use())
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(first, using)
    with pytest.raises(LookupError):
        await failing
    locks = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock'"
    assert await database.fetch(locks) == []


async def test_who_loses_a_lock_is_told_that_they_were_perhaps_not_alone(
    database: PostgresDatabase, postgres: Server
) -> None:
    with pytest.raises(StorageError, match="the lock of 'it' was lost"):
        async with database.alone("it"):
            await asyncio.to_thread(terminate, postgres, *await pids(database))
    async with database.alone("it"):
        pass


async def test_who_leaves_a_lost_lock_in_haste_hears_of_what_made_them(
    database: PostgresDatabase, postgres: Server
) -> None:
    async def fail() -> None:
        async with database.alone("it"):
            await asyncio.to_thread(terminate, postgres, *await pids(database))
            raise LookupError

    with pytest.raises(LookupError):
        await fail()


async def test_those_at_work_are_told_apart(database: PostgresDatabase, postgres: Server) -> None:
    another = PostgresDatabase(database.address)
    await database.open()
    one = await database.at_work()
    await another.open()
    both = await another.at_work()
    assert (len(one), len(both), one < both) == (1, 2, True)
    await another.close()
    assert await database.at_work() == one
    await asyncio.to_thread(terminate, postgres, *one)
    await database.execute(INSERT, ("a",))
    assert len(await database.at_work() - one) == 1


async def test_the_first_that_is_wrong_is_told_not_what_followed_from_it(
    database: PostgresDatabase,
) -> None:
    await database.execute(INSERT, ("missing after",))
    [result] = await held_back(database, change("missing"))
    assert isinstance(result, LookupError)


async def test_a_job_that_fails_by_itself_undoes_what_it_sent(database: PostgresDatabase) -> None:
    def job(connection: Connection) -> None:
        connection.execute(INSERT, ("a",)).close()
        connection.execute("nonsense").close()
        raise LookupError("mine")

    for _ in range(2):
        with pytest.raises(LookupError):
            await database.write(job)
    await database.execute(INSERT, ("a",))
    assert await count(database) == 1


async def test_a_statement_that_was_refused_is_refused_again_and_those_after_it_work(
    database: PostgresDatabase,
) -> None:
    later = "SELECT key FROM marks WHERE key = ?"
    for _ in range(2):
        results = await asyncio.gather(
            database.fetch("SELECT nothing FROM nowhere"),
            database.fetch(later, ("a",)),
            return_exceptions=True,
        )
        assert isinstance(results[0], StorageError)
        assert "nowhere" in str(results[0])
        assert results[1] == []


async def test_more_statements_work_than_the_server_is_to_remember(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.pipeline.PREPARED", 3)
    for number in range(6):
        assert await database.fetch(f"SELECT {number}, ?::text", ("a",)) == [(number, "a")]
    [(remembered,)] = await database.fetch("SELECT count(*) FROM pg_prepared_statements")
    assert remembered == 3


async def test_neither_side_waits_for_the_other_to_read(database: PostgresDatabase) -> None:
    text = "x" * 3_000_000

    def job(connection: Connection) -> list[int]:
        told = [connection.execute("SELECT repeat('x', 100000)") for _ in range(100)]
        asked = [connection.execute("SELECT ?::text", (text,)) for _ in range(4)]
        return [len(each.fetchone()[0]) for each in (*told, *asked)]

    assert await database.read(job) == [100_000] * 100 + [3_000_000] * 4


async def test_rows_are_read_one_by_one_and_then_those_that_are_left(
    database: PostgresDatabase,
) -> None:
    def job(connection: Connection) -> list[object]:
        found = connection.execute("SELECT generate_series(1, 4)")
        none = connection.execute("SELECT 1 WHERE false")
        return [
            found.fetchone(),
            found.fetchone(),
            found.fetchall(),
            found.fetchone(),
            *none.fetchall(),
        ]

    assert await database.read(job) == [(1,), (2,), [(3,), (4,)], None]


async def test_every_kind_of_value_comes_back_as_it_was(database: PostgresDatabase) -> None:
    values = (7, 2**62, -1, True, None, "text \N{SNOWMAN} \\ '", b"\0bytes\xff", 0.5)
    sql = (
        "SELECT ?::int, ?::bigint, ?::bigint, ?::boolean, ?::text, ?::text, ?::bytea,"
        " ?::double precision"
    )
    assert await database.fetch(sql, values) == [values]


# -- others at work --------------------------------------------------------------------------------


async def test_a_deadlock_is_dissolved_and_both_jobs_are_done(
    database: PostgresDatabase,
) -> None:
    other = PostgresDatabase(database.address)
    await database.execute_many(INSERT, [("a",), ("b",)])
    meeting = threading.Barrier(2)
    update = "UPDATE marks SET value = value || ? WHERE key = ?"

    def crossing(mine: str, first: str, second: str, once: list[int]) -> None:
        def job(connection: Connection) -> None:
            connection.execute(update, (mine, first))
            if not once:
                once.append(1)
                meeting.wait(30)
            connection.execute(update, (mine, second))

        jobs.append(job)

    jobs: list[object] = []
    crossing("x", "a", "b", [])
    crossing("y", "b", "a", [])
    await other.open()
    await asyncio.gather(database.write(jobs[0]), other.write(jobs[1]))  # type: ignore[arg-type]
    values = await database.fetch("SELECT value FROM marks ORDER BY key")
    assert [sorted(value) for (value,) in values] == [["x", "y"], ["x", "y"]]
    await other.close()


async def test_transactions_of_two_processes_that_lock_each_other_out_are_all_done(
    database: PostgresDatabase,
) -> None:
    other = PostgresDatabase(database.address)
    await other.open()
    keys = [str(number) for number in range(20)]
    await database.execute_many(INSERT, [(key,) for key in keys])
    meeting = threading.Barrier(2)

    def adding(key: str, waits: bool) -> Callable[[Connection], None]:
        def job(connection: Connection) -> None:
            sql = "UPDATE marks SET value = value || 'x' WHERE key = ?"
            assert connection.execute(sql, (key,)).rowcount == 1
            if waits:
                with contextlib.suppress(threading.BrokenBarrierError):
                    meeting.wait(0.5)

        return job

    await asyncio.gather(
        held_back(database, *(adding(key, key == "9") for key in keys)),
        held_back(other, *(adding(key, key == "10") for key in reversed(keys))),
    )
    assert await database.fetch("SELECT DISTINCT value FROM marks") == [("xx",)]
    await other.close()


async def test_a_lock_that_is_never_given_back_is_an_error(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.connecting.LOCK_SECONDS", 0.1)
    await database.execute(INSERT, ("a",))
    with psycopg.connect(database.address) as other:
        other.execute("UPDATE marks SET value = 'mine'")
        with pytest.raises(StorageError, match="lock timeout"):
            await database.execute("UPDATE marks SET value = 'ours'")
    assert await database.execute("UPDATE marks SET value = 'ours'") == 1


async def test_the_reader_cannot_write(database: PostgresDatabase) -> None:
    with pytest.raises(StorageError, match="read-only"):
        await database.fetch("DELETE FROM marks")


# -- hearing of others -----------------------------------------------------------------------------

SAY = "SELECT pg_notify('parley', ?)"
LISTENING = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
)


async def test_what_another_process_says_is_heard_by_who_wants_to(
    database: PostgresDatabase,
) -> None:
    other = PostgresDatabase(database.address)
    with database.hearing("a") as heard, database.hearing("b") as unheard:
        for event in (heard, unheard):
            await event.wait()  # it may have been said before
            event.clear()
        for _ in range(2):
            await other.fetch(SAY, ("nobody wants this",))
            await other.fetch(SAY, ("a",))
            await heard.wait()
            heard.clear()
        assert not unheard.is_set()
    await other.close()


async def test_what_may_have_been_said_while_the_connection_was_lost_is_looked_for(
    database: PostgresDatabase, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.hearing.AGAIN", 0.0)
    with database.hearing("a") as heard, database.hearing("a") as heard_too:
        await heard.wait()
        for _ in range(2):
            heard.clear()
            heard_too.clear()
            [(pid,)] = await database.fetch(LISTENING)
            await asyncio.to_thread(terminate, postgres, pid)
            await heard.wait()
            await heard_too.wait()


async def test_closed_it_hears_nothing_and_opened_again_it_does(
    database: PostgresDatabase,
) -> None:
    other = PostgresDatabase(database.address)
    for _ in range(2):
        with database.hearing("a") as heard:
            await heard.wait()
        assert len(await other.fetch(LISTENING)) == 1
        await database.close()
        while await other.fetch(LISTENING):
            pass  # the server notices in a moment
    await other.close()


# -- opening ---------------------------------------------------------------------------------------


async def test_eight_processes_that_open_an_empty_database_at_once_all_work(
    postgres: Server, tmp_path: Path
) -> None:
    url = postgres.new_database()
    assert await errors_of_many(tmp_path, OPEN_AND_WRITE, url) == [""] * 8
    database = PostgresDatabase(url)
    assert await count(database) == 8
    await database.close()


async def test_a_newer_schema_is_refused_and_left_alone(database: PostgresDatabase) -> None:
    await database.execute("UPDATE schema SET version = 99")
    await database.close()
    with pytest.raises(StorageError, match=r"127\.0\.0\.1.*newer"):
        await database.open()
    with psycopg.connect(database.address) as connection:
        assert connection.execute("SELECT version FROM schema").fetchall() == [(99,)]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://nobody:s3cret@127.0.0.1:{port}/missing",
        "postgresql://nobody:s3cret@127.0.0.1:1/missing",
        "postgresql://nobody:s3cret@no-such-host.invalid/missing",
        "postgresql://nobody@127.0.0.1:{port}/missing?password=s3cret",
        "postgresql://nobody:s3cret@127.0.0.1:port/missing",
        "host=127.0.0.1 port={port} password=s3cret user=nobody dbname=missing",
        "postgresql://nobody:s3cret@127.0.0.1/missing?no_such_word=1",
    ],
)
async def test_an_address_that_cannot_be_used_is_told_without_its_password(
    postgres: Server, url: str
) -> None:
    database = PostgresDatabase(url.format(port=postgres.port))
    with pytest.raises(StorageError) as caught:
        await database.open()
    seen = [caught.value, caught.value.__cause__, database.name, repr(database)]
    assert not any("s3cret" in str(each) for each in seen)
    await database.close()


async def test_both_engines_have_the_same_tables_and_columns(
    database: PostgresDatabase, tmp_path: Path
) -> None:
    file = SQLiteDatabase(tmp_path / "data.db")
    theirs = await file.fetch(
        "SELECT t.name, c.name FROM pragma_table_list t, pragma_table_info(t.name) c"
        " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'"
        " AND (t.name, c.name) <> ('memories', 'number')"  # what its index of words goes by
    )
    ours = await database.fetch(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = 'public' AND table_name <> 'schema' AND is_generated = 'NEVER'"
    )
    assert sorted(ours) == sorted(theirs)
    await file.close()
