"""Moving everything from one engine to the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from bot import SQLiteSessionManager
from bot.errors import ConfigError, StorageError
from bot.sessions import PostgresSessionManager
from bot.sessions.database.sql import SQLSessionManager
from bot.sessions.stores.deliveries import Delivery, DeliveryStore
from bot.sessions.stores.marks import MarkStore
from bot.storage import ends, moving
from bot.storage.ends import Table, opened
from bot.storage.moving import Moved, move
from tests.commands import run
from tests.postgres import Server
from tests.sessions.samples import answers, says

OWN = {"number", "vector"}
"""Columns of one engine that the other has no use for: with them its index of words is kept."""


@pytest.fixture
def file(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'parley.db'}"


@pytest.fixture
def server(postgres: Server) -> str:
    return postgres.new_database()


def sessions(address: str) -> SQLSessionManager:
    if address.startswith("sqlite"):
        return SQLiteSessionManager(Path(address.removeprefix("sqlite:///")))
    return PostgresSessionManager(address)


async def fill(address: str, count: int = 12) -> None:
    manager = sessions(address)
    for number in range(count):
        session = await manager.get_or_create(f"channel-{number}", "alice")
        session.append(says(f'"Grüße" \\u0000 🦜 {number}', f"discord-{number}"), answers())
        session.state["n"] = number
        await manager.save(session)
    for number in range(9):
        await manager.put_blob(bytes([number, 0, 255]) * 1000)
    await DeliveryStore(manager.database).put(
        Delivery(
            session_id="channel-1",
            turn_id="turn-1",
            subject="m1",
            purpose="answer",
            part=0,
            channel_id=2**62,
            message_id=None,
            content_hash="abc",
            final=True,
        )
    )
    await MarkStore(manager.database).set("a", "")
    assert (await manager.lease("channel-3", await manager.register())).taken
    await manager.close()


def measured(address: str) -> list[Moved]:
    with opened(address, new=False) as end:
        tables = (replace(each, columns=sorted({*each.columns} - OWN)) for each in end.tables())
        return sorted((moving._measured(end, table) for table in tables), key=str)


@pytest.fixture(params=["to a server", "to a file"])
def way(request: pytest.FixtureRequest, file: str, server: str) -> tuple[str, str]:
    return (file, server) if request.param == "to a server" else (server, file)


async def test_everything_arrives(way: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "PAGE", 5)
    source, target = way
    await fill(source)
    heard: list[Moved] = []
    moved = await asyncio.to_thread(move, source, target, told=heard.append)
    assert heard == moved
    counts = {each.table: each.rows for each in moved}
    assert (counts["sessions"], counts["events"], counts["blobs"]) == (12, 24, 9)
    assert measured(source) == measured(target)
    assert {each.table: each.rows for each in measured(target)} == counts
    ours, theirs = sessions(source), sessions(target)
    for number in range(12):
        mine, other = await ours.get(f"channel-{number}"), await theirs.get(f"channel-{number}")
        assert mine is not None
        assert other is not None
        assert mine.to_dict() == other.to_dict()
    [delivery] = await DeliveryStore(theirs.database).of("channel-1")
    assert delivery.final is True
    assert delivery.channel_id == 2**62
    lease = await theirs.lease("channel-3", await theirs.register())
    assert (lease.taken, lease.interrupted) == (True, True)  # whoever ran it does not any more
    await ours.close()
    await theirs.close()


async def test_what_is_not_empty_is_left_alone(way: tuple[str, str]) -> None:
    source, target = way
    await fill(source)
    await fill(target, 4)
    before = measured(target)
    with pytest.raises(StorageError, match="not empty"):
        await asyncio.to_thread(move, source, target)
    assert measured(target) == before


async def test_what_arrives_changed_is_undone(
    way: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = way
    await fill(source)

    def broken(insert: Callable[..., None]) -> Callable[..., None]:
        def change(end: object, table: Table, rows: list[tuple[object, ...]]) -> None:
            insert(end, table, rows[:-1] if table.name == "events" else rows)

        return change

    for kind in (ends._File, ends._Server):
        monkeypatch.setattr(kind, "insert", broken(kind.insert))
    with pytest.raises(StorageError, match="of events is not the same"):
        await asyncio.to_thread(move, source, target)
    assert all(each.rows == 0 for each in measured(target))


async def test_a_move_that_is_cut_off_leaves_nothing_and_can_be_made_again(
    way: tuple[str, str],
) -> None:
    source, target = way
    await fill(source)

    def cut(moved: Moved) -> None:
        if moved.table == "events":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move(source, target, told=cut)
    assert all(each.rows == 0 for each in measured(target))
    move(source, target)
    assert measured(target) == measured(source)


async def test_a_database_that_a_bot_works_with_is_not_moved(server: str, file: str) -> None:
    await fill(server)
    manager = PostgresSessionManager(server)
    await manager.initialize()
    with pytest.raises(StorageError, match="another Parley works with it"):
        await asyncio.to_thread(move, server, file)
    await manager.close()
    with opened(server, new=False):
        with pytest.raises(StorageError, match="it is being moved"):
            await manager.initialize()
        await manager.close()
    with opened(file, new=True), pytest.raises(ConfigError, match="another bot works with"):
        move(file, server)


def test_what_is_no_database_is_told(server: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"not 'mysql'"):
        move("mysql://parley:s3cret@host/x", server)
    with pytest.raises(StorageError, match="there is no database"):
        move(f"sqlite:///{tmp_path / 'none.db'}", server)
    (tmp_path / "notes.db").write_text("These are my notes. " * 100)
    with pytest.raises(StorageError, match="not a database"):
        move(f"sqlite:///{tmp_path / 'notes.db'}", server)
    with pytest.raises(StorageError) as caught:
        move("postgresql://parley:s3cret@127.0.0.1:1/x", server)
    assert "s3cret" not in str(caught.value)


def test_databases_of_different_versions_are_not_mixed(server: str, file: str) -> None:
    with closing(psycopg.connect(server, autocommit=True)) as connection:
        connection.execute("CREATE TABLE novelty (key TEXT PRIMARY KEY)")
    with opened(file, new=True) as end:
        end.commit()
    with pytest.raises(StorageError, match="different tables"):
        move(file, server)


async def test_the_command_tells_what_it_moved(server: str, file: str, tmp_path: Path) -> None:
    await fill(file)
    ended = await run("migrate-store", file, server, in_=tmp_path)
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert any(line.split()[:2] == ["sessions", "12"] for line in lines)
    assert lines[-1].startswith("All of it is there, and the same.")
    again = await run("migrate-store", file, server, in_=tmp_path)
    assert again.status == 1
    assert again.err.startswith("Nothing was moved: ")


def test_no_table_numbers_its_rows_by_itself(server: str) -> None:
    """What is moved would else be numbered again from the start; `move` would have to see to it."""
    with opened(server, new=True) as end:
        assert end.rows("SELECT * FROM pg_sequences") == []
        assert all(table.key for table in end.tables())
