"""What is particular to sessions in a file."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from bot.errors import DuplicateMessageError, SessionConflictError, StorageError
from bot.events import RecordedEvent, ResetEvent, UnknownEvent
from bot.sessions import Session, SQLiteSessionManager
from tests.sessions.samples import answers, says

HOLD_A_LEASE = """
import asyncio, sys
from bot.sessions import SQLiteSessionManager

async def main():
    manager = SQLiteSessionManager(sys.argv[1])
    holder = await manager.register()
    print((await manager.lease("s", holder)).taken, flush=True)
    sys.stdin.read(1)

asyncio.run(main())
"""


async def read(manager: SQLiteSessionManager, session_id: str = "s") -> Session:
    session = await manager.get(session_id)
    assert session is not None
    return session


async def saved(manager: SQLiteSessionManager, session_id: str, *events: RecordedEvent) -> Session:
    session = await manager.get_or_create(session_id, "alice")
    session.append(*events)
    await manager.save(session)
    return session


# -- reading ---------------------------------------------------------------------------------------


async def test_an_unreadable_file_is_an_error_and_no_fresh_session(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    path.write_bytes(b"not a database" * 100)
    manager = SQLiteSessionManager(path)
    for attempt in (manager.get("s"), manager.create("s"), manager.get_or_create("s")):
        with pytest.raises(StorageError):
            await attempt
    await manager.close()
    assert path.read_bytes() == b"not a database" * 100


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET body = '{'",
        "UPDATE events SET body = '{}'",
        "UPDATE events SET body = CAST(x'ff' AS TEXT)",
        "UPDATE sessions SET state = '{'",
        "UPDATE sessions SET open_turns = ''",
        "UPDATE sessions SET updated_at = ''",
    ],
)
async def test_a_damaged_row_is_an_error(
    sqlite: SQLiteSessionManager, tmp_path: Path, damage: str
) -> None:
    await saved(sqlite, "s", says())
    await sqlite.database.execute(damage)
    other = SQLiteSessionManager(sqlite.database.path)
    with pytest.raises(StorageError):
        await other.get("s")
    await other.close()


async def test_what_another_process_saved_is_seen(sqlite: SQLiteSessionManager) -> None:
    other = SQLiteSessionManager(sqlite.database.path)
    await saved(sqlite, "s", says("one"))
    await saved(other, "s", answers("two"))
    await saved(sqlite, "s", says("three"))
    assert (await read(other)).events == (await read(sqlite)).events
    assert (await read(sqlite)).last_seq == 3
    await other.close()


async def test_a_window_that_another_process_moved_is_followed(
    sqlite: SQLiteSessionManager,
) -> None:
    other = SQLiteSessionManager(sqlite.database.path)
    await saved(sqlite, "s", says("one"), answers())
    await saved(other, "s", ResetEvent(by="alice"), says("two"), answers())
    assert [event.seq for event in (await read(sqlite)).events] == [3, 4, 5]
    await saved(other, "s", ResetEvent(by="alice", window_from=1))
    assert [event.seq for event in (await read(sqlite)).events] == [1, 2, 3, 4, 5, 6]
    await other.close()


async def test_a_session_made_anew_elsewhere_is_not_mixed_with_the_old(
    sqlite: SQLiteSessionManager,
) -> None:
    await saved(sqlite, "s", says("old"), answers("old"))
    await read(sqlite)
    other = SQLiteSessionManager(sqlite.database.path)
    await other.delete("s")
    new = await saved(other, "s", says("new"), answers("new"), says("newer"))
    await other.close()
    assert (await read(sqlite)).events == new.events


async def test_events_of_a_newer_version_are_kept(sqlite: SQLiteSessionManager) -> None:
    body = {"kind": "teleported", "seq": 2, "to": "mars"}
    await saved(sqlite, "s", says(), UnknownEvent(body=body))
    await sqlite.database.close()
    log = await SQLiteSessionManager.read_log(sqlite, "s")
    assert isinstance(log[1], UnknownEvent)
    assert log[1].body == body


# -- saving ----------------------------------------------------------------------------------------


async def test_many_saves_at_once_make_few_commits(sqlite: SQLiteSessionManager) -> None:
    sessions = [await sqlite.create(f"s{number}") for number in range(200)]
    for session in sessions:
        session.append(says())
    before = sqlite.database.transactions
    await asyncio.gather(*(sqlite.save(session) for session in sessions))
    assert sqlite.database.transactions - before < 50
    assert len(await sqlite.open_sessions()) == 200


async def test_conflicts_among_many_saves_fail_alone(sqlite: SQLiteSessionManager) -> None:
    sessions = [await sqlite.create(f"s{number}") for number in range(10)]
    stale = await read(sqlite, "s3")
    await saved(sqlite, "s3", says("first"))
    sessions[3] = stale
    for session in sessions[:9]:
        session.append(says("hi", f"discord-{session.session_id}"))
    sessions[9].append(says("hi", "discord-s5"))
    results = await asyncio.gather(
        *(sqlite.save(session) for session in sessions), return_exceptions=True
    )
    failed = {number: type(result) for number, result in enumerate(results) if result is not None}
    assert failed == {3: SessionConflictError, 9: DuplicateMessageError}
    for number in (0, 1, 2, 4, 5, 6, 7, 8):
        assert (await read(sqlite, f"s{number}")).events == sessions[number].events


async def test_a_save_cancelled_midway_is_done_and_the_object_knows(
    sqlite: SQLiteSessionManager,
) -> None:
    session = await sqlite.create("s")
    session.append(says())
    saving = asyncio.create_task(sqlite.save(session))
    await asyncio.sleep(0)
    saving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await saving
    again = await read(sqlite)
    assert (session.unsaved, session.version) == ((), again.version)
    assert again.events == session.events


async def test_a_save_that_fails_leaves_the_object_as_it_was(sqlite: SQLiteSessionManager) -> None:
    session = await saved(sqlite, "s", says())
    await sqlite.database.execute(
        "CREATE TRIGGER broken BEFORE INSERT ON events BEGIN SELECT raise(ABORT, 'broken'); END"
    )
    session.append(answers())
    with pytest.raises(StorageError, match="broken"):
        await sqlite.save(session)
    await sqlite.database.execute("DROP TRIGGER broken")
    await sqlite.save(session)
    assert (await read(sqlite)).events == session.events


async def test_five_thousand_sessions_are_listed_by_an_index(sqlite: SQLiteSessionManager) -> None:
    sessions = [Session(f"s{number}", "alice") for number in range(5000)]
    await asyncio.gather(*(sqlite.save(session) for session in sessions))
    found: list[str] = []
    before = None
    while page := await sqlite.list_sessions("alice", limit=500, before=before):
        found += [info.session_id for info in page]
        before = page[-1].updated_at
    assert len(found) == len(set(found)) == 5000


# -- the lease -------------------------------------------------------------------------------------


def start_holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD_A_LEASE, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


async def test_a_lease_outlives_neither_its_process_nor_is_taken_before(
    sqlite: SQLiteSessionManager,
) -> None:
    await saved(sqlite, "s", says())
    ours = await sqlite.register()
    with start_holder(sqlite.database.path) as process:
        alive = await sqlite.lease("s", ours)
        assert (alive.taken, alive.holder != ours) == (False, True)
        await sqlite.register()  # which clears away only what is dead
        assert not (await sqlite.lease("s", ours)).taken
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert (await sqlite.lease("s", ours)).taken
    directory = sqlite.database.path.with_name("sessions.db-holders")
    assert alive.holder not in {path.name for path in directory.iterdir()}


async def test_files_of_dead_holders_are_cleared_away(sqlite: SQLiteSessionManager) -> None:
    await saved(sqlite, "s", says())
    with start_holder(sqlite.database.path) as process:
        process.kill()
        process.wait()
    ours = await sqlite.register()
    directory = sqlite.database.path.with_name("sessions.db-holders")
    assert [path.name for path in directory.iterdir()] == [ours]
    await sqlite.close()
    assert list(directory.iterdir()) == []


async def test_a_directory_where_no_lock_can_be_held_is_an_error(
    sqlite: SQLiteSessionManager,
) -> None:
    await saved(sqlite, "s", says())
    directory = sqlite.database.path.with_name("sessions.db-holders")
    directory.touch()
    with pytest.raises(StorageError, match="holders"):
        await sqlite.register()
    directory.unlink()
    await sqlite.lease("s", "strange")
    (directory / "strange").mkdir(parents=True)
    with pytest.raises(StorageError, match="strange"):
        await sqlite.lease("s", "other")


def test_the_schema_has_the_indexes_that_queries_need(tmp_path: Path) -> None:
    manager = SQLiteSessionManager(tmp_path / "sessions.db")
    asyncio.run(manager.initialize())
    asyncio.run(manager.close())
    connection = sqlite3.connect(manager.database.path)
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql <> ''")
    names = {name for (name,) in rows}
    connection.close()
    assert {"sessions_of_user", "sessions_open", "events_natural_key"} <= names
