"""The commands with a PostgreSQL database in place of the file."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from bot import Session
from bot.errors import ConfigError
from bot.frontend.commands.interactions import NOT_DONE
from bot.frontend.control import NOT_HERE
from bot.sessions import PostgresSessionManager
from bot.storage import PostgresDatabase
from tests.commands import complained, run, running, stopped
from tests.e2e.test_answer_buttons import press
from tests.postgres import Server, serving
from tests.setups import PATIENCE, Setup, labels, set_up


@pytest.fixture
async def home() -> AsyncIterator[Setup]:
    async with set_up() as made:
        yield made


async def test_the_bot_remembers_in_postgresql_over_restarts(
    home: Setup, postgres: Server, tmp_path: Path
) -> None:
    settings = {**home.settings, "DATABASE_URL": postgres.new_database()}
    for text, answer in (("I am Alice", "Hello Alice."), ("Who am I?", "You are Alice.")):
        home.model.says(answer)
        async with running("run", in_=tmp_path, settings=settings) as process:
            await home.sandbox.connected(home.bot, PATIENCE)
            await home.alice.says(text, in_=home.desk)
            await home.said(answer)
            assert (await stopped(process)).status == 0
        await home.sandbox.disconnected(home.bot)
    assert [each["role"] for each in home.model.requests[1]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert not (tmp_path / "parley.db").exists()


async def test_whoever_acts_while_the_server_is_away_hears_that_nothing_was_done(
    home: Setup, tmp_path: Path
) -> None:
    home.model.says("Hello.").then("Hello again.")
    with serving() as server:
        settings = {**home.settings, "DATABASE_URL": server.new_database()}
        async with running("run", in_=tmp_path, settings=settings) as process:
            await home.sandbox.connected(home.bot, PATIENCE)
            await home.alice.says("hi", in_=home.desk)
            hello = await home.said("Hello.")
            await hello.until(lambda message: "Try again" in labels(message))
            await asyncio.to_thread(server.stop)
            told = [
                await home.alice.runs("/remind", in_=home.desk, when="in 1 day", text="tea"),
                await home.alice.runs("/approve", in_=home.desk, request="a\0b"),
                await home.alice.clicks(hello, "Try again"),
            ]
            assert all(each.text.startswith(NOT_DONE) for each in told)
            await asyncio.to_thread(server.start)
            made = await home.alice.runs("/remind", in_=home.desk, when="in 1 day", text="a\0b")
            assert made.text.startswith("I will remind you")
            unknown = await home.alice.runs("/approve", in_=home.desk, request="a\0b")
            assert unknown.text == NOT_HERE
            await press(home.alice, hello)
            await home.said("Hello again.")
            ended = await stopped(process)
    assert ended.status == 0
    assert "Traceback" not in ended.err


async def test_chat_and_check_work_with_it(home: Setup, postgres: Server, tmp_path: Path) -> None:
    url = postgres.new_database()
    settings = {**home.settings, "DATABASE_URL": url}
    home.model.says("Hello.").then("ok")
    chatted = await run("chat", in_=tmp_path, says="hi\n", settings=settings)
    assert (chatted.status, "Hello." in chatted.out) == (0, True)
    checked = await run("check", in_=tmp_path, settings=settings)
    assert checked.status == 0
    assert f"database      postgresql://127.0.0.1:{postgres.port}/" in checked.out
    store = PostgresSessionManager(url)
    assert isinstance(await store.get("console"), Session)
    await store.close()


async def test_no_password_is_shown_where_it_cannot_be_reached(home: Setup, tmp_path: Path) -> None:
    settings = {**home.settings, "DATABASE_URL": "postgresql://parley:s3cret@127.0.0.1:1/parley"}
    home.model.says("ok")
    checked = await run("check", in_=tmp_path, settings=settings)
    async with running("run", in_=tmp_path, settings=settings) as process:
        told = await complained(process, "postgresql://127.0.0.1:1/parley is waited for")
        started = await stopped(process)
    assert "cannot be written, set DATABASE_URL: postgresql://127.0.0.1:1/parley" in checked.out
    assert (checked.status, started.status) == (1, 0)
    assert "s3cret" not in checked.out + checked.err + told + started.out + started.err


async def test_a_start_waits_for_a_server_that_is_away(home: Setup, tmp_path: Path) -> None:
    with serving() as server:
        settings = {**home.settings, "DATABASE_URL": server.new_database()}
        await asyncio.to_thread(server.stop)
        async with running("run", in_=tmp_path, settings=settings) as process:
            await complained(process, "is waited for, up to 120 seconds")
            await asyncio.to_thread(server.start)
            await home.sandbox.connected(home.bot, PATIENCE)
            assert (await stopped(process)).status == 0


async def test_a_start_waits_for_a_server_that_lets_nobody_in_yet(
    home: Setup, tmp_path: Path
) -> None:
    with serving() as server:
        settings = {**home.settings, "DATABASE_URL": server.new_database()}
        await asyncio.to_thread(server.stop)
        await asyncio.to_thread(server.start_closed)
        async with running("run", in_=tmp_path, settings=settings) as process:
            await complained(process, "the database system is")
            await asyncio.to_thread(server.open)
            await home.sandbox.connected(home.bot, PATIENCE)
            assert (await stopped(process)).status == 0


async def test_a_start_does_not_wait_for_a_server_that_refuses_it(
    home: Setup, postgres: Server, tmp_path: Path
) -> None:
    guarded = {**home.settings, "DATABASE_URL": postgres.guarded_database("right")}
    wrong = await run("run", in_=tmp_path, settings={**guarded, "PGPASSWORD": "wrong"})
    missing = {**home.settings, "DATABASE_URL": postgres.url("missing")}
    nowhere = await run("run", in_=tmp_path, settings=missing)
    assert "password authentication failed" in wrong.err
    assert 'database "missing" does not exist' in nowhere.err
    assert (wrong.status, nowhere.status) == (1, 1)
    assert "waited for" not in wrong.err + nowhere.err


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
async def test_a_database_that_cannot_hold_every_text_is_refused(
    encoding: str, home: Setup, postgres: Server, tmp_path: Path
) -> None:
    url = postgres.new_database(f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'")
    settings = {**home.settings, "DATABASE_URL": url}
    home.model.says("ok")
    for command in ("check", "run"):
        ended = await run(command, in_=tmp_path, settings=settings)
        told = ended.out + ended.err
        assert ended.status == 1
        assert f"its encoding is {encoding}, which cannot hold every text" in told
        assert "Traceback" not in told


async def test_what_clients_elsewhere_are_told_in_changes_nothing(
    home: Setup, postgres: Server, tmp_path: Path
) -> None:
    url = postgres.new_database()
    with psycopg.connect(url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f'ALTER DATABASE "{name}" SET client_encoding = latin1')
    settings = {**home.settings, "DATABASE_URL": url}
    home.model.says("\u4f60\u597d")
    chatted = await run("chat", in_=tmp_path, says="\u4f60\n", settings=settings)
    assert (chatted.status, "\u4f60\u597d" in chatted.out) == (0, True)


async def test_a_wrong_address_is_a_wrong_setting(home: Setup, tmp_path: Path) -> None:
    settings = {**home.settings, "DATABASE_URL": "mysql://parley:s3cret@host/parley"}
    ended = await run("run", in_=tmp_path, settings=settings)
    assert ended.status == 2
    assert "DATABASE_URL must be an address like postgresql://" in ended.err
    assert "s3cret" not in ended.err


@pytest.mark.parametrize("between", ["%", "@", "/", "?", "#", "/#", "@/"])
@pytest.mark.parametrize("command", ["check", "run"])
async def test_a_password_that_is_badly_written_is_not_shown(
    command: str, between: str, home: Setup, postgres: Server, tmp_path: Path
) -> None:
    url = postgres.new_database().replace("postgres@", f"postgres:s3c{between}1r3t@")
    ended = await run(command, in_=tmp_path, settings={**home.settings, "DATABASE_URL": url})
    told = ended.out + ended.err
    assert ended.status == 2
    assert "in a password / @ # % ? are written %2F %40 %23 %25 %3F" in told
    assert "s3c" not in told
    assert "1r3t" not in told


async def test_an_address_in_the_place_of_the_file_is_not_shown(
    home: Setup, tmp_path: Path
) -> None:
    given = {**home.settings, "DATABASE": "postgresql://postgres:s3cret@127.0.0.1/db"}
    ended = await run("run", in_=tmp_path, settings=given)
    assert ended.status == 2
    assert "DATABASE must be the path of a file; DATABASE_URL is for" in ended.err
    assert "s3cret" not in ended.err


@pytest.mark.parametrize(
    "address", ["postgresql:/u:s3cret@host/db", "s3cret@host/db", "postgresql://u:s3cret/@host/db"]
)
async def test_an_address_that_nothing_can_be_moved_to_is_not_shown(
    address: str, tmp_path: Path
) -> None:
    ended = await run("migrate-store", address, "sqlite:///new.db", in_=tmp_path)
    assert ended.status in (1, 2)
    assert "s3cret" not in ended.out + ended.err


@pytest.mark.parametrize("password", ["p/w#x", "p@w%3F ?'\\\\ü"])
async def test_any_password_can_be_given_beside_the_address(
    password: str, home: Setup, postgres: Server, tmp_path: Path
) -> None:
    settings = {**home.settings, "DATABASE_URL": postgres.guarded_database(password)}
    home.model.says("ok")
    good = await run("check", in_=tmp_path, settings={**settings, "PGPASSWORD": password})
    wrong = await run("check", in_=tmp_path, settings={**settings, "PGPASSWORD": f"{password}."})
    assert "can be written" in good.out
    assert good.status == 0
    assert "password authentication failed" in wrong.out
    assert password not in good.out + good.err + wrong.out + wrong.err


async def test_backup_points_to_what_postgresql_has(tmp_path: Path) -> None:
    ended = await run("backup", "copy", in_=tmp_path, settings={"DATABASE_URL": "postgresql:///x"})
    assert (ended.status, ended.out) == (1, "")
    assert "pg_dump" in ended.err


async def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bot.storage.postgres_connection", None)
    with pytest.raises(ConfigError, match="extra postgres"):
        await PostgresDatabase("postgresql:///x").open()
