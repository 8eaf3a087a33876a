"""Which sessions a start has to look at, in each engine: whatever is not known to rest."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import TypeVar

import pytest

from bot.events import Author, Receipt, ToolResultEvent, ToolStatus, UserMessageEvent, utc_now
from bot.sessions import PostgresSessionManager, Session
from bot.sessions.database.rows import saving
from bot.sessions.database.sql import SQLSessionManager
from bot.sessions.stores.deliveries import DeliveryStore, Progress
from bot.sessions.stores.homes import Home, HomeStore
from bot.sessions.stores.redacting import redact
from bot.sessions.stores.rests import Found, Rest, RestStore
from bot.sessions.stores.settings import Change, Scope, SettingsStore, changing
from bot.storage import Connection
from tests.postgres import Server
from tests.sessions.samples import LATER, answers, calls, decides, requests, says

T = TypeVar("T")

SHOWN_BY = "release 1"
SERVER = 7
WAITS_FOR_US = """
    SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"""


async def ids(
    read: Callable[..., Awaitable[Sequence[Found]]], *, shown_by: str = SHOWN_BY, **page: object
) -> list[str]:
    return [each.session_id for each in await read(shown_by, utc_now(), **page)]


async def waits(store: SQLSessionManager, name: str, *, rests: bool = True) -> Session:
    """Store a session that waits for an approval, and is shown as it should be."""
    session = await store.get_or_create(name, "alice")
    session.append(says(), calls(f"c-{name}"), requests(f"a-{name}", f"c-{name}"))
    await store.save(session, rests=rests)
    await shown(store, session)
    return session


async def shown(store: SQLSessionManager, session: Session, since: Progress | None = None) -> bool:
    """Note that a session is shown, as it was to be `since` then; return whether that is so."""
    deliveries = DeliveryStore(store.database)
    rest = Rest(session.version, SHOWN_BY, LATER)
    since = since or await deliveries.progress(session.session_id)
    return await deliveries.set_delivered_to(session.session_id, 0, rest, since=since)


async def looked_at(store: SQLSessionManager) -> bool:
    """Return whether a start looks at the one session there is; else it waits for its time."""
    rests = RestStore(store.database)
    behind, unanswered = await ids(rests.behind), await ids(rests.open)
    assert behind == unanswered
    assert (await ids(rests.resting)) == ([] if behind else ["s"])
    return bool(behind)


async def test_what_waits_and_is_shown_is_only_woken_in_time(sql: SQLSessionManager) -> None:
    await waits(sql, "s")
    await HomeStore(sql.database).put("s", Home(SERVER, 70))
    assert not await looked_at(sql)
    [found] = await RestStore(sql.database).resting(SHOWN_BY, utc_now())
    assert found == Found("s", SERVER, LATER)


async def test_what_is_behind_or_open_comes_in_pages_with_its_server(
    sql: SQLSessionManager,
) -> None:
    for name in ("a", "b", "c", "d"):
        await waits(sql, name, rests=name == "d")
    await HomeStore(sql.database).put("b", Home(SERVER, 70))
    rests = RestStore(sql.database)
    for read in (rests.behind, rests.open):
        assert await read(SHOWN_BY, utc_now(), limit=2) == [Found("a", None), Found("b", SERVER)]
        assert await read(SHOWN_BY, utc_now(), after="b") == [Found("c", None)]
    await waits(sql, "e")
    assert await ids(rests.resting, limit=1) == ["d"]
    assert await ids(rests.resting, after="d") == ["e"]


async def test_sessions_that_show_less_than_was_recorded_are_found(
    sql: SQLSessionManager,
) -> None:
    store, rests = DeliveryStore(sql.database), RestStore(sql.database)
    for name in ("a", "b", "c"):
        session = await sql.create(name)
        session.append(says(), answers())
        await sql.save(session, rests=True)
    await sql.create("empty")
    await store.set_delivered_to("b", 2)
    assert await ids(rests.behind) == ["a", "c"]
    assert await ids(rests.open) == []
    await store.set_delivered_to("b", 1)
    assert await store.progress("b") == Progress(2, 2)
    assert await store.progress("a") == Progress(0, 2)


async def test_what_was_noted_of_a_session_is_told(sql: SQLSessionManager) -> None:
    session = await waits(sql, "s")
    expected = Progress(0, session.version, SHOWN_BY, Rest(session.version, SHOWN_BY, LATER))
    assert await DeliveryStore(sql.database).progress("s") == expected


async def test_what_nobody_said_to_rest_is_looked_at(sql: SQLSessionManager) -> None:
    await waits(sql, "s", rests=False)
    assert await looked_at(sql)


async def test_what_was_not_shown_to_its_end_is_looked_at(sql: SQLSessionManager) -> None:
    session = await sql.get_or_create("s")
    session.append(says(), calls("c"), requests())
    await sql.save(session, rests=True)
    assert await looked_at(sql)
    await DeliveryStore(sql.database).set_delivered_to("s", 0)
    assert await looked_at(sql)


async def test_what_is_shown_otherwise_now_is_looked_at(sql: SQLSessionManager) -> None:
    await waits(sql, "s")
    assert await ids(RestStore(sql.database).behind, shown_by="release 2") == ["s"]
    assert await ids(RestStore(sql.database).open, shown_by="release 2") == ["s"]


async def test_what_should_have_been_woken_is_looked_at(sql: SQLSessionManager) -> None:
    session = await waits(sql, "s")
    deliveries = DeliveryStore(sql.database)
    late = Rest(session.version, SHOWN_BY, utc_now() - timedelta(seconds=1))
    assert await deliveries.set_delivered_to("s", 0, late, since=await deliveries.progress("s"))
    assert await looked_at(sql)


async def test_a_decision_of_which_nothing_followed_ends_the_rest(sql: SQLSessionManager) -> None:
    session = await waits(sql, "s")
    session.append(decides("a-s"))
    await sql.save(session)
    assert await looked_at(sql)
    await shown(sql, session)
    assert await looked_at(sql)


async def test_a_message_ends_the_rest_until_it_is_shown_that_it_waits(
    sql: SQLSessionManager,
) -> None:
    session = await waits(sql, "s")
    session.append(says("and another"))
    await sql.save(session, rests=True)
    assert await looked_at(sql)
    await shown(sql, session)
    assert not await looked_at(sql)


async def test_whoever_saves_without_a_word_ends_the_rest(sql: SQLSessionManager) -> None:
    session = await waits(sql, "s")
    session.state["mood"] = "good"
    await sql.save(session)
    await shown(sql, session)
    assert await looked_at(sql)


async def test_what_somebody_holds_is_looked_at_until_they_give_it_back(
    sql: SQLSessionManager,
) -> None:
    session = await waits(sql, "s")
    holder = await sql.register()
    assert (await sql.lease("s", holder)).taken
    assert await looked_at(sql)
    await sql.save(session, release=holder, rests=True)
    await shown(sql, session)
    assert not await looked_at(sql)


async def test_what_a_holder_that_ended_has_left_is_looked_at(sql: SQLSessionManager) -> None:
    await waits(sql, "s")
    assert (await sql.lease("s", await sql.register())).taken
    await sql.close()
    assert await looked_at(sql)
    taken = await sql.lease("s", await sql.register())
    assert taken.interrupted
    assert await looked_at(sql)


async def test_a_write_of_somebody_who_knows_nothing_of_rest_ends_it(
    sql: SQLSessionManager,
) -> None:
    await waits(sql, "s")
    await sql.database.execute("UPDATE sessions SET version = version + 1")
    assert await looked_at(sql)


async def test_what_memories_were_taken_out_of_is_looked_at(sql: SQLSessionManager) -> None:
    session = await sql.create("s")
    asked = UserMessageEvent(text="hi", author=Author(user_id="alice"))
    kept = ToolResultEvent(
        call_id="c",
        status=ToolStatus.OK,
        output="noted",
        receipt=Receipt(text="I remember that.", undo="memory-1"),
    )
    session.append(asked, calls("c"), kept, calls("d"), requests("a", "d"))
    await sql.save(session, rests=True)
    await shown(sql, session)
    assert not await looked_at(sql)
    await sql.database.write(lambda connection: redact(connection, "alice", ["memory-1"]))
    assert await looked_at(sql)


def changed(version: int) -> Change:
    return Change(
        scope=Scope(SERVER, 70),
        version=version,
        value="{}",
        field="model",
        by="user-1",
        at=utc_now(),
    )


async def test_what_is_changed_while_a_session_is_being_shown_is_not_noted_as_shown(
    sql: SQLSessionManager,
) -> None:
    settings, deliveries = SettingsStore(sql.database), DeliveryStore(sql.database)
    session = await waits(sql, "s")
    await HomeStore(sql.database).put("s", Home(SERVER, 70))
    for version in (1, 2):
        before = await deliveries.progress("s")
        assert await settings.put(changed(version))
        assert not await shown(sql, session, before)
        assert await looked_at(sql)
    assert await shown(sql, session)
    assert not await looked_at(sql)


async def test_changed_settings_of_a_server_end_the_rests_there(sql: SQLSessionManager) -> None:
    homes = HomeStore(sql.database)
    for name, server in (("here", SERVER), ("there", SERVER + 1)):
        await waits(sql, name)
        await homes.put(name, Home(server, 70))
    assert await SettingsStore(sql.database).put(changed(1))
    assert await ids(RestStore(sql.database).open) == ["here"]
    assert await ids(RestStore(sql.database).resting) == ["there"]


async def test_what_is_recorded_while_others_note_that_all_is_shown_stays_to_be_shown(
    postgres: Server,
) -> None:
    """One process has sent a save that is not committed yet, and another one notes."""
    address = postgres.new_database()
    ours, theirs = PostgresSessionManager(address), PostgresSessionManager(address)
    session = await ours.create("s")
    session.append(says(), answers())
    await ours.save(session)
    shown_to = session.last_seq
    session.append(says(), answers())
    save = saving(session, session.state_json(), session.unsaved)
    note = DeliveryStore(theirs.database).set_delivered_to("s", shown_to)
    await before_the_commit(ours, save, note)
    assert await ids(RestStore(ours.database).behind) == ["s"]
    await ours.close()
    await theirs.close()


async def test_what_is_changed_while_others_note_that_all_is_shown_is_shown_otherwise(
    postgres: Server,
) -> None:
    address = postgres.new_database()
    ours, theirs = PostgresSessionManager(address), PostgresSessionManager(address)
    session = await waits(theirs, "s")
    await HomeStore(theirs.database).put("s", Home(SERVER, 70))
    before = await DeliveryStore(theirs.database).progress("s")
    change = changing(changed(1))
    assert not await before_the_commit(ours, change, shown(theirs, session, before))
    assert await looked_at(ours)
    await ours.close()
    await theirs.close()


async def before_the_commit(
    ours: SQLSessionManager, work: Callable[[Connection], object], theirs: Awaitable[T]
) -> T:
    """Let one process do something that has to wait until another one commits what it has sent."""
    sent, done = threading.Event(), threading.Event()

    def job(connection: Connection) -> None:
        work(connection)
        connection.execute("SELECT 1").fetchone()
        sent.set()
        while not done.is_set() and not connection.execute(WAITS_FOR_US).fetchone():
            pass

    working = asyncio.create_task(ours.database.write(job))
    await asyncio.to_thread(sent.wait)
    try:
        return await theirs
    finally:
        done.set()
        await working


async def test_a_session_made_anew_does_not_rest_as_the_deleted_one_did(
    sql: SQLSessionManager,
) -> None:
    await waits(sql, "s")
    await sql.delete("s")
    session = Session("s")
    session.append(says())
    await sql.save(session)
    assert await looked_at(sql)


async def test_what_was_shown_of_a_deleted_session_is_not_noted_of_one_begun_anew(
    sql: SQLSessionManager,
) -> None:
    """Whoever showed the old one was still at it when it was deleted, and notes that after."""
    old = await sql.create("s")
    old.append(says(), answers(), says(), answers())
    await sql.save(old)
    await sql.delete("s")
    session = await sql.create("s")
    session.append(says(), answers())
    await sql.save(session)
    await DeliveryStore(sql.database).set_delivered_to("s", old.last_seq)
    assert await DeliveryStore(sql.database).progress("s") == Progress(0, session.version)
    assert await ids(RestStore(sql.database).behind) == ["s"]


@pytest.mark.parametrize("rests", [True, False])
async def test_a_first_save_says_whether_it_rests(sql: SQLSessionManager, rests: bool) -> None:
    session = Session("s")
    session.append(says(), calls("c"), requests())
    await sql.save(session, rests=rests)
    await shown(sql, session)
    assert await looked_at(sql) is not rests
