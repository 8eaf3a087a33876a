"""What several processes do to sessions in one database, whichever engine keeps it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from bot.errors import DuplicateMessageError, SessionConflictError, StorageError
from bot.events import ApprovalDecidedEvent, Decision, RecordedEvent
from bot.sessions import PostgresSessionManager, Session
from bot.sessions.database.sql import SQLSessionManager
from bot.storage import Connection, PostgresDatabase, SQLiteDatabase
from tests.postgres import Server
from tests.sessions.samples import answers, says

HOLD_A_LEASE = """
import asyncio, sys
from pathlib import Path
from bot.sessions import PostgresSessionManager, SQLiteSessionManager

async def main():
    kind = PostgresSessionManager if "://" in sys.argv[1] else SQLiteSessionManager
    manager = kind(sys.argv[1])
    holder = await manager.register()
    print((await manager.lease("s", holder)).taken, flush=True)
    sys.stdin.read(1)

asyncio.run(main())
"""


def address(manager: SQLSessionManager) -> str:
    match manager.database:
        case PostgresDatabase(address=url):
            return url
        case SQLiteDatabase(path=path):
            return str(path)
        case other:
            raise TypeError(other)


async def read(manager: SQLSessionManager, session_id: str = "s") -> Session:
    session = await manager.get(session_id)
    assert session is not None
    return session


async def saved(manager: SQLSessionManager, *events: RecordedEvent) -> None:
    session = await read(manager)
    session.append(*events)
    await manager.save(session)


async def test_the_lease_of_a_killed_process_is_taken_over_once(
    sql: SQLSessionManager, another: SQLSessionManager
) -> None:
    await sql.create("s")
    process = subprocess.Popen(  # noqa: ASYNC220 - our own program; nothing else runs on this loop
        [sys.executable, "-c", HOLD_A_LEASE, address(sql)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    ours, theirs = await sql.register(), await another.register()
    assert not (await sql.lease("s", ours)).taken
    process.send_signal(signal.SIGKILL)
    process.communicate()
    while True:  # PostgreSQL notices, in a moment, that the other end of the connection is gone
        leases = await asyncio.gather(sql.lease("s", ours), another.lease("s", theirs))
        if any(lease.taken for lease in leases):
            break
    assert [lease.taken for lease in leases].count(True) == 1
    assert all(lease.interrupted == lease.taken for lease in leases)


async def test_of_two_processes_that_save_at_once_one_is_told_of_the_conflict(
    sql: SQLSessionManager, another: SQLSessionManager
) -> None:
    await sql.create("s")
    for number in range(20):
        mine, theirs = await read(sql), await read(another)
        mine.append(says(f"mine {number}"))
        theirs.append(says(f"theirs {number}"))
        results = await asyncio.gather(sql.save(mine), another.save(theirs), return_exceptions=True)
        assert results.count(None) == 1
        assert [type(each) for each in results].count(SessionConflictError) == 1
    log = await sql.read_log("s")
    assert [event.seq for event in log] == list(range(1, 21))


async def test_a_message_that_two_processes_store_at_once_is_stored_once(
    sql: SQLSessionManager, another: SQLSessionManager
) -> None:
    await sql.create("a")
    await sql.create("b")
    for number in range(20):
        mine, theirs = await read(sql, "a"), await read(another, "b")
        mine.append(says("hello", f"discord-{number}"))
        theirs.append(says("hello", f"discord-{number}"))
        results = await asyncio.gather(sql.save(mine), another.save(theirs), return_exceptions=True)
        assert [type(each) for each in results].count(DuplicateMessageError) == 1
        assert results.count(None) == 1
    count = await sql.database.fetch("SELECT count(*) FROM events")
    assert count == [(20,)]


async def test_of_two_decisions_of_two_processes_one_counts(
    sql: SQLSessionManager, another: SQLSessionManager
) -> None:
    await sql.create("s")
    await saved(sql, says())
    mine, theirs = await read(sql), await read(another)
    for session, decision in ((mine, Decision.APPROVED), (theirs, Decision.DENIED)):
        session.append(
            ApprovalDecidedEvent(approval_id="approval-1", decision=decision, by=str(decision))
        )
    results = await asyncio.gather(sql.save(mine), another.save(theirs), return_exceptions=True)
    assert results.count(None) == 1
    keys = await sql.database.fetch(
        "SELECT count(*) FROM events WHERE natural_key = 'decision:approval-1'"
    )
    assert keys == [(1,)]


async def test_two_processes_that_create_a_session_at_once_share_it(
    sql: SQLSessionManager, another: SQLSessionManager
) -> None:
    mine, theirs = await asyncio.gather(sql.get_or_create("s"), another.get_or_create("s"))
    assert mine.created_at == theirs.created_at


async def test_a_lease_outlives_a_lost_connection(
    sql: SQLSessionManager, another: SQLSessionManager, request: pytest.FixtureRequest
) -> None:
    if not isinstance(sql.database, PostgresDatabase):
        return  # a file has no connection to lose
    server: Server = request.getfixturevalue("postgres")
    await sql.create("s")
    ours, theirs = await sql.register(), await another.register()
    assert (await sql.lease("s", ours)).taken
    pid = await sql.database.write(
        lambda connection: connection.execute("SELECT pg_backend_pid()").fetchone()[0]
    )
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,))
    await saved(sql, says())  # on a new connection, which takes the lock again
    assert not (await another.lease("s", theirs)).taken


async def test_a_lease_that_was_taken_over_meanwhile_is_lost_and_the_next_save_tells(
    sql: SQLSessionManager, another: SQLSessionManager
) -> None:
    await sql.create("s")
    ours, theirs = await sql.register(), await another.register()
    assert (await sql.lease("s", ours)).taken
    session = await read(sql)
    await sql.close()  # as a connection that is gone for a while
    async with asyncio.timeout(30):  # a server takes a moment to see that a connection is gone
        while not (taken := await another.lease("s", theirs)).taken:  # noqa: ASYNC110 - it is outside this process
            await asyncio.sleep(0.01)
    assert taken.interrupted
    assert taken.version == session.version + 1
    session.append(answers())
    with pytest.raises(SessionConflictError):
        await sql.save(session)
    assert not (await sql.lease("s", await sql.register())).taken


async def test_a_deleted_session_is_an_error_for_who_still_saves_it(
    sql: SQLSessionManager, another: SQLSessionManager
) -> None:
    await sql.create("s")
    session = await read(sql)
    await another.delete("s")
    session.append(says())
    with pytest.raises(SessionConflictError):
        await sql.save(session)


async def test_a_damaged_row_is_an_error(sql: SQLSessionManager) -> None:
    await sql.create("s")
    await saved(sql, says())
    await sql.database.execute("UPDATE events SET body = '{'")
    await sql.close()
    sql._kept.drop("s")
    with pytest.raises(StorageError, match="damaged"):
        await sql.get("s")


async def test_what_another_process_runs_and_what_it_left_is_told_apart(
    sql: SQLSessionManager, another: SQLSessionManager
) -> None:
    ours, theirs = await sql.register(), await another.register()
    for name, manager, holder in (("a", sql, ours), ("b", another, theirs), ("c", another, "")):
        session = await manager.create(name)
        session.append(says())
        await manager.save(session)
        if holder:
            assert (await manager.lease(name, holder)).taken
        assert await sql.abandoned() == []
    assert [await sql.is_run_elsewhere(name) for name in "abcd"] == [False, True, False, False]
    assert [await sql.is_run_here(name) for name in "abcd"] == [True, False, False, False]
    await another.close()
    assert await sql.abandoned() == ["b"]
    assert not await sql.is_run_elsewhere("b")


async def test_only_who_runs_a_session_of_another_process_is_told_of_what_is_recorded(
    postgres: Server,
) -> None:
    url = postgres.new_database()
    one, two = PostgresSessionManager(url), PostgresSessionManager(url)
    holder, _ = await one.register(), await two.register()
    with psycopg.connect(url, autocommit=True) as listener:
        listener.execute("LISTEN parley")
        for name, manager in (("free", two), ("own", one), ("others", two)):
            session = await manager.create(name)
            if name != "free":
                assert (await one.lease(name, holder)).taken
            session.append(says())
            for _ in range(2):  # the second time there is nothing new in it
                await manager.save(session)
        listener.execute("NOTIFY parley, 'the end'")  # they come in the order of their commits
        heard = listener.notifies(timeout=30, stop_after=2)
        assert [each.payload for each in heard] == ["others", "the end"]
    await one.close()
    await two.close()


class Hasty:
    """Holders of which each dies just as somebody takes its session over before us."""

    def __init__(self) -> None:
        self.asked = 0

    def register(self, connection: Connection) -> str:
        return "late"

    def is_ours(self, holder: str) -> bool:
        return holder == "late"

    def is_alive(self, connection: Connection, holder: str) -> bool:
        self.asked += 1
        if self.asked == 1:
            connection.execute("UPDATE sessions SET version = version + 1")
        return False

    def tell_others(self, connection: Connection, session_id: str) -> None:
        pass

    def close(self) -> None:
        pass


async def test_a_lease_that_another_took_first_is_asked_for_again(tmp_path: Path) -> None:
    database, holders = SQLiteDatabase(tmp_path / "sessions.db"), Hasty()
    manager = SQLSessionManager(database, holders)
    await manager.create("s")
    assert (await manager.lease("s", "first")).taken
    taken = await manager.lease("s", "late")
    assert taken.taken
    assert taken.interrupted
    assert holders.asked == 2
    await manager.close()
