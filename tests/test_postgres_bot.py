"""The commands with a PostgreSQL database in place of the file."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot import Session
from bot.errors import ConfigError
from bot.frontend.commands.interactions import NOT_DONE
from bot.frontend.control import NOT_HERE
from bot.sessions import PostgresSessionManager
from bot.storage import PostgresDatabase
from tests.commands import run, running, stopped
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
    started = await run("run", in_=tmp_path, settings=settings)
    assert "cannot be written, set DATABASE_URL: postgresql://127.0.0.1:1/parley" in checked.out
    assert started.err.splitlines()[-1].startswith("Parley has stopped: postgresql://127.0.0.1:1/")
    assert (checked.status, started.status) == (1, 1)
    assert "s3cret" not in checked.out + checked.err + started.out + started.err


async def test_a_wrong_address_is_a_wrong_setting(home: Setup, tmp_path: Path) -> None:
    settings = {**home.settings, "DATABASE_URL": "mysql://parley:s3cret@host/parley"}
    ended = await run("run", in_=tmp_path, settings=settings)
    assert ended.status == 2
    assert "DATABASE_URL must be an address like postgresql://" in ended.err
    assert "s3cret" not in ended.err


async def test_backup_points_to_what_postgresql_has(tmp_path: Path) -> None:
    ended = await run("backup", "copy", in_=tmp_path, settings={"DATABASE_URL": "postgresql:///x"})
    assert (ended.status, ended.out) == (1, "")
    assert "pg_dump" in ended.err


async def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bot.storage.postgres_connection", None)
    with pytest.raises(ConfigError, match="extra postgres"):
        await PostgresDatabase("postgresql:///x").open()
