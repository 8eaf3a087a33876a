"""A PostgreSQL server that keeps a connection and says nothing on it any more."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.errors import StorageError
from bot.sessions import PostgresSessionManager
from bot.storage import Connection, PostgresDatabase
from bot.storage.migrations import scripts
from tests.postgres import Server
from tests.proxies import Proxy

INSERT = "INSERT INTO marks (key, value) VALUES (?, '')"
KEYS = "SELECT key FROM marks ORDER BY key"


@pytest.fixture
async def proxy(postgres: Server) -> AsyncIterator[Proxy]:
    async with Proxy(postgres.new_database()).serving() as made:
        yield made


@pytest.fixture
async def database(proxy: Proxy) -> AsyncIterator[PostgresDatabase]:
    database = PostgresDatabase(proxy.url)
    yield database
    await database.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.storage.patience.ANSWER_SECONDS", 4.0)


@pytest.mark.usefixtures("impatient")
async def test_what_is_not_answered_is_an_error_and_the_next_connection_works(
    database: PostgresDatabase, proxy: Proxy
) -> None:
    await database.execute(INSERT, ("a",))
    proxy.be_silent()
    with pytest.raises(StorageError, match=r"127\.0\.0\.1.*did not answer"):
        await database.execute(INSERT, ("lost",))
    with pytest.raises(StorageError, match="did not answer"):
        await database.fetch(KEYS)
    assert await database.execute(INSERT, ("b",)) == 1
    assert await database.fetch(KEYS) == [("a",), ("b",)]


@pytest.mark.usefixtures("impatient")
async def test_who_waited_for_the_same_answer_is_not_kept_waiting_for_another(
    database: PostgresDatabase, proxy: Proxy
) -> None:
    runs = []

    def job(connection: Connection) -> None:
        runs.append(connection)
        proxy.lines[0].silent = True
        connection.execute(INSERT, (str(len(runs)),)).close()

    began, gate = threading.Event(), threading.Event()

    def first(connection: Connection) -> None:
        began.set()
        gate.wait(30)

    before = asyncio.create_task(database.write(first))
    await asyncio.to_thread(began.wait, 30)
    waiting = [asyncio.create_task(database.write(job)) for _ in range(3)]
    await asyncio.sleep(0)
    gate.set()
    await before
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(each) for each in results] == [StorageError] * 3
    assert len(runs) == 3
    assert await database.fetch(KEYS) == []


@pytest.mark.usefixtures("impatient")
async def test_a_commit_that_is_not_answered_is_not_done_twice(
    database: PostgresDatabase, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    await database.execute_many("CREATE TABLE ledger (text TEXT)", [()])
    runs = []

    def job(connection: Connection) -> None:
        runs.append(connection)
        connection.execute("INSERT INTO ledger VALUES ('paid')").close()

    @contextmanager
    def cut(point: str) -> Iterator[None]:
        proxy.lines[0].silent = True
        yield

    with monkeypatch.context() as patch:
        patch.setattr("bot.storage.postgres_connection.around", cut)
        with pytest.raises(StorageError, match="did not answer"):
            await database.write(job)
    assert len(runs) == 1
    assert await database.fetch("SELECT * FROM ledger") == []


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("said", [b"lock_timeout", b"pg_advisory_lock_shared", b"xact_lock"])
async def test_a_server_that_falls_silent_while_a_connection_is_made_is_an_error(
    said: bytes, database: PostgresDatabase, proxy: Proxy
) -> None:
    proxy.silent_at = said
    with pytest.raises(StorageError, match="did not answer"):
        await database.open()
    proxy.silent_at = None
    await database.open()


async def test_a_migration_may_take_its_time(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("bot.storage.patience.ANSWER_SECONDS", 4.0)
    slow = tmp_path / "9999_slow.sql"
    slow.write_text("SELECT pg_sleep(5)")
    monkeypatch.setattr(
        "bot.storage.migrations.scripts", lambda engine="postgres": [*scripts(engine), slow]
    )
    await database.open()
    assert await database.fetch("SELECT version FROM schema") == [(len(scripts("postgres")) + 1,)]


async def test_a_statement_that_takes_too_long_is_given_up_by_the_server(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.patience.STATEMENT_SECONDS", 3)
    with pytest.raises(StorageError, match="statement timeout"):
        await database.fetch("SELECT pg_sleep(60)")
    assert await database.fetch("SELECT 1") == [(1,)]


@pytest.mark.usefixtures("impatient")
async def test_who_lives_on_a_silent_connection_lives_on_in_the_next_one(proxy: Proxy) -> None:
    ours, others = PostgresSessionManager(proxy.url), PostgresSessionManager(proxy.url)
    await ours.get_or_create("s")
    holder = await ours.register()
    assert (await ours.lease("s", holder)).taken
    other = await others.register()
    proxy.lines[0].silent = True
    with pytest.raises(StorageError, match="did not answer"):
        await ours.database.execute(INSERT, ("lost",))
    await ours.database.execute(INSERT, ("found",))
    assert not (await others.lease("s", other)).taken
    await ours.close()
    assert (await others.lease("s", other)).taken
    await others.close()


@pytest.mark.usefixtures("impatient")
async def test_who_hears_of_others_does_so_again_after_a_silence(
    database: PostgresDatabase, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.hearing.AGAIN", 0.0)
    monkeypatch.setattr("bot.storage.hearing.QUIET", 0.1)
    with database.hearing("a") as heard:
        await heard.wait()
        heard.clear()
        proxy.be_silent()
        await heard.wait()


async def test_closing_does_not_wait_for_a_server_that_says_nothing(
    database: PostgresDatabase, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.storage.postgres_connection.LET_GO_SECONDS", 0.2)
    await database.execute(INSERT, ("a",))
    proxy.be_silent()
    async with asyncio.timeout(30):
        await database.close()


async def test_a_server_that_takes_nobody_in_is_waited_for_and_then_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("bot.storage.connecting.CONNECT_SECONDS", 2)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        database = PostgresDatabase(f"postgresql://me@127.0.0.1:{deaf.getsockname()[1]}/data")
        await database.wait(0.1)
        with pytest.raises(StorageError, match="timeout"):
            await database.open()
    assert "/data is waited for" in caplog.text
    await database.close()


async def test_what_waiting_does_not_better_is_not_waited_for(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    await PostgresDatabase("postgresql://me:p/w@127.0.0.1/data").wait(60)
    await PostgresDatabase("not an address").wait(60)
    monkeypatch.setitem(sys.modules, "bot.storage.connecting", None)
    await PostgresDatabase("postgresql:///data").wait(60)
    assert caplog.text == ""
