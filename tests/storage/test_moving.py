"""Moving everything from one engine to the other."""

from __future__ import annotations

import asyncio
import sqlite3
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
from bot.storage.claim import claimed
from bot.storage.ends import Table
from bot.storage.ends.file import _FileEnd
from bot.storage.ends.server import _ServerEnd
from bot.storage.migrations import own_tables, scripts
from bot.storage.moving import Moved, move
from tests.commands import run, running
from tests.disks import bound, mounted, remount
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
    with ends.source(address) as end:
        tables = (replace(each, columns=sorted({*each.columns} - OWN)) for each in end.tables())
        return sorted((moving._measured(end, table) for table in tables), key=str)


def is_untouched(address: str) -> bool:
    """Whether nothing was made in a database, or of a file."""
    if address.startswith("sqlite"):
        path = Path(address.removeprefix("sqlite:///"))
        return [each.name for each in path.parent.glob(f"{path.name}*")] in (
            [],
            [f"{path.name}-bot"],
        )
    with psycopg.connect(address) as connection:
        return (
            connection.execute("SELECT 1 FROM pg_tables WHERE schemaname = 'public'").rowcount == 0
        )


def older(address: str) -> None:
    """Take a database's last migration back, which made an index anew."""
    if address.startswith("sqlite"):
        with closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as file:
            file.execute(f"PRAGMA user_version = {len(scripts()) - 1}")
    else:
        with psycopg.connect(address) as connection:
            connection.execute("UPDATE schema SET version = version - 1")


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

    for kind in (_FileEnd, _ServerEnd):
        monkeypatch.setattr(kind, "insert", broken(kind.insert))
    with pytest.raises(StorageError, match="of events is not the same"):
        await asyncio.to_thread(move, source, target)
    assert is_untouched(target)


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
    assert is_untouched(target)
    move(source, target)
    assert measured(target) == measured(source)


async def test_a_database_that_a_bot_works_with_is_not_moved(server: str, file: str) -> None:
    await fill(server)
    manager = PostgresSessionManager(server)
    await manager.initialize()
    with pytest.raises(StorageError, match="another Parley works with it"):
        await asyncio.to_thread(move, server, file)
    await manager.close()
    with ends.source(server):
        with pytest.raises(StorageError, match="it is being moved"):
            await manager.initialize()
        await manager.close()
    await fill(file)
    with ends.source(file), pytest.raises(ConfigError, match="another bot works with"):
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


async def test_a_source_of_an_older_version_is_left_as_it_was(way: tuple[str, str]) -> None:
    source, target = way
    await fill(source)
    older(source)
    for _ in range(2):
        with pytest.raises(StorageError, match=r"an older Parley made.* start this one's bot"):
            await asyncio.to_thread(move, source, target)
    assert is_untouched(target)
    manager = sessions(source)
    await manager.initialize()
    await manager.close()
    await asyncio.to_thread(move, source, target)
    assert measured(target) == measured(source)


def test_a_source_that_is_none_of_ours_is_refused(way: tuple[str, str]) -> None:
    source, target = way
    if source.startswith("sqlite"):
        Path(source.removeprefix("sqlite:///")).touch()
    with pytest.raises(StorageError, match="no database of Parley's"):
        move(source, target)
    assert is_untouched(target)


async def test_tables_of_others_are_passed_over(way: tuple[str, str]) -> None:
    for address in way:
        theirs = "CREATE TABLE spatial_ref_sys (srid INTEGER PRIMARY KEY)"
        if address.startswith("sqlite"):
            with closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as file:
                file.execute(theirs)
        else:
            with closing(psycopg.connect(address, autocommit=True)) as connection:
                connection.execute(theirs)
    source, target = way
    await fill(source)
    moved = await asyncio.to_thread(move, source, target)
    assert {each.table for each in moved} == set(own_tables())
    assert measured(target) == measured(source)


def test_each_engine_has_the_same_tables(server: str) -> None:
    with ends.target(server) as end:
        assert [table.name for table in end.tables()] == own_tables()


@pytest.mark.parametrize("kind", ["file", "server"])
async def test_a_database_is_not_moved_into_itself(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    address: str = request.getfixturevalue(kind)
    await fill(address)
    if kind == "file":
        (tmp_path / "link.db").symlink_to(tmp_path / "parley.db")
        other = f"sqlite:///{tmp_path / 'link.db'}"
    else:
        other = address.replace("postgresql://", "postgres://").replace("127.0.0.1", "localhost")
    before = measured(address)
    for target in (address, other):
        with pytest.raises(StorageError, match="are the same database"):
            await asyncio.to_thread(move, address, target)
    assert measured(address) == before


async def test_texts_that_only_one_engine_keeps_are_marked_and_told(
    file: str, server: str, tmp_path: Path
) -> None:
    await fill(file)
    with closing(sqlite3.connect(tmp_path / "parley.db")) as old:
        old.executemany("INSERT INTO marks VALUES (?, ?)", [("b", "b\0c"), ("\0", "d"), ("e", "f")])
        old.commit()
    before = measured(file)
    ended = await run("migrate-store", file, server, in_=tmp_path)
    assert (ended.status, ended.err) == (0, "")
    assert "2 rows had characters" in ended.out.splitlines()[-2]
    assert measured(file) == before
    store = MarkStore(sessions(server).database)
    assert [await store.get(key) for key in ("b", "\ufffd", "e")] == ["b\ufffdc", "d", "f"]
    await store._database.close()


@pytest.mark.parametrize("log", [False, True])
async def test_a_source_on_a_medium_that_cannot_be_written_is_read(
    log: bool, server: str, tmp_path: Path
) -> None:
    with mounted(tmp_path / "disk", "8m") as folder:
        address = f"sqlite:///{folder / 'parley.db'}"
        await fill(address)
        with closing(sqlite3.connect(folder / "parley.db")) as open_still:
            if log:  # what was committed last is beside the file, as after a kill
                open_still.execute("UPDATE sessions SET user_id = 'bob'")
                open_still.commit()
                copied = folder / "copy"
                copied.mkdir()
                for each in folder.glob("parley.db*"):
                    if each.is_file():
                        (copied / each.name).write_bytes(each.read_bytes())
                address = f"sqlite:///{copied / 'parley.db'}"
        remount(folder, "ro")
        try:
            moved = await asyncio.to_thread(move, address, server)
            assert measured(address) == measured(server)
        finally:
            remount(folder, "rw")
    assert {each.table: each.rows for each in moved}["sessions"] == 12
    with psycopg.connect(server) as connection:
        [(owner,)] = connection.execute("SELECT DISTINCT user_id FROM sessions").fetchall()
    assert owner == ("bob" if log else "alice")


async def test_a_bot_is_noticed_that_works_with_a_medium_that_we_cannot_write(
    server: str, tmp_path: Path
) -> None:
    with mounted(tmp_path / "disk", "8m") as folder:
        address = f"sqlite:///{folder / 'parley.db'}"
        await fill(address)
        with bound(folder, tmp_path / "seen") as seen, claimed(folder / "parley.db"):
            with pytest.raises(ConfigError, match="another bot works with"):
                await asyncio.to_thread(move, f"sqlite:///{seen / 'parley.db'}", server)


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
    wrong = await run("migrate-store", file, "mysql://host/x", in_=tmp_path)
    assert (wrong.status, wrong.out) == (2, "")
    assert wrong.err.startswith("Nothing was moved: A database is sqlite")


@pytest.mark.parametrize("buffered", ["", "1"])
async def test_who_listens_no_more_changes_nothing(
    buffered: str, server: str, file: str, tmp_path: Path
) -> None:
    await fill(file)
    settings = {"PYTHONUNBUFFERED": buffered}
    async with running("migrate-store", file, server, in_=tmp_path, settings=settings) as process:
        assert process.stdout is not None
        process.stdout._transport.close()  # type: ignore[attr-defined]
        assert process.stderr is not None
        assert await process.stderr.read() == b""
        assert await process.wait() == 0
    assert measured(server) == measured(file)


def test_no_table_numbers_its_rows_by_itself(server: str) -> None:
    """What is moved would else be numbered again from the start; `move` would have to see to it."""
    with ends.target(server) as end:
        assert end.rows("SELECT * FROM pg_sequences") == []
        assert all(table.key for table in end.tables())
