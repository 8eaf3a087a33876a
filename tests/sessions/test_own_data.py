"""Whose the contents of a store are, and how they are forgotten."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.errors import DuplicateMessageError, SessionConflictError
from bot.events import (
    Attachment,
    Author,
    CompactionDoneEvent,
    ErasedEvent,
    Quote,
    RecordedEvent,
    ResetEvent,
    ToolResultEvent,
    ToolStatus,
    UserMessageEvent,
    codec,
    utc_now,
)
from bot.sessions import (
    PostgresSessionManager,
    Session,
    SessionStore,
    SQLiteSessionManager,
    SQLSessionManager,
)
from bot.sessions.database import listings, sql
from bot.sessions.erasing import FORGOTTEN
from bot.sessions.stores import actions, deliveries, homes, rests
from bot.sessions.stores.deliveries import DeliveryStore
from bot.sessions.stores.rests import RestStore
from bot.sessions.times import stored_time
from bot.storage import migrations
from tests.sessions.samples import answers, calls, decides, requests, starts
from tests.sessions.stores.test_rests import ids
from tests.sessions.stores.test_small_stores import SENT

START = datetime(2030, 1, 1, tzinfo=UTC)
FILE = Attachment(sha256="f" * 64, media_type="image/png", name="a.png")
_scripts = migrations.scripts


def said(
    user: str, text: str = "hi", *, turn: str = "", at: datetime = START, **more: object
) -> UserMessageEvent:
    message = UserMessageEvent(text=text, author=Author(user_id=user), turn_id=turn, at=at)
    return replace(message, **more)  # type: ignore[arg-type]  # fields of the event


async def stored(store: SessionStore, session_id: str, *events: RecordedEvent) -> Session:
    session = await store.get_or_create(session_id, "alice")
    session.append(*events)
    await store.save(session)
    return session


async def read(store: SessionStore, session_id: str) -> Session:
    session = await store.get(session_id)
    assert session is not None
    return session


async def test_a_turn_is_erased_as_a_whole_and_keeps_its_places(store: SessionStore) -> None:
    await stored(
        store,
        "s",
        said("alice", "secret", turn="t1", source_id="discord-1"),
        said("bob", "and mine", turn="t1"),
        calls("c"),
        requests("a", "c"),
        decides("a"),
        starts("c"),
        ToolResultEvent(call_id="c", status=ToolStatus.OK, output="secret"),
        answers("a secret"),
        said("bob", "else", turn="t2"),
        answers("fine"),
    )
    before = await store.read_log("s")
    assert await store.turns_of("s", "alice") == ("t1",)
    await store.erase(await read(store, "s"), ["t1"])
    log = await store.read_log("s")
    assert [(each.seq, each.turn_id, each.at) for each in log] == [
        (each.seq, each.turn_id, each.at) for each in before
    ]
    kinds = [each.was for each in log if isinstance(each, ErasedEvent)]
    assert kinds == [each.kind for each in before[:8]]
    assert log[8:] == before[8:]
    session = await read(store, "s")
    assert session.events == tuple(log)
    assert session.erasures == 1
    assert await store.authors("s") == {"bob": 1}
    assert await store.find_approval("a") is None
    assert await store.turns_of("s", "alice") == ()
    with pytest.raises(DuplicateMessageError):
        await stored(store, "s", said("alice", source_id="discord-1"))


async def test_an_erasure_is_a_write_like_any_other(store: SessionStore) -> None:
    old = await stored(store, "s", said("alice", turn="t1"), answers())
    await stored(store, "s", said("bob", turn="t2"))
    with pytest.raises(SessionConflictError):
        await store.erase(old, ["t1"])
    current = await read(store, "s")
    with pytest.raises(ValueError, match="open"):
        await store.erase(current, ["t2"])
    await store.erase(current, ["t1"])
    current.append(answers())
    with pytest.raises(SessionConflictError):
        await store.save(current)
    with pytest.raises(SessionConflictError):
        await store.erase(Session("none"), None)


async def test_all_turns_of_a_session_are_erased_with_its_state(store: SessionStore) -> None:
    session = await stored(store, "s", said("alice"), answers(), said("bob"), answers())
    session.state["name"] = "secret"
    await store.save(session)
    await store.erase(session, None)
    session = await read(store, "s")
    assert all(isinstance(event, ErasedEvent) for event in session.events)
    assert dict(session.state) == {}
    assert await store.authors("s") == {}
    await store.erase(session, None)


async def test_summaries_lose_their_text_if_they_may_cover_it(store: SessionStore) -> None:
    await stored(
        store,
        "s",
        said("bob", turn="t1"),
        answers(),
        CompactionDoneEvent(summary="of bob", window_from=1),
        said("alice", turn="t2"),
        answers(),
        said("bob", turn="t3"),
        answers(),
        CompactionDoneEvent(summary="of all", window_from=6),
        ResetEvent(by="bob"),
    )
    await store.erase(await read(store, "s"), ["t2"])
    log = await store.read_log("s")
    told = [(e.summary, e.window_from) for e in log if isinstance(e, CompactionDoneEvent)]
    assert told == [("of bob", 1), ("", 6)]


def quoting(user: str, *quoted: str, turn: str) -> UserMessageEvent:
    quotes = (Quote(what=f"of {each}", text="secret", author_id=each) for each in quoted)
    return said(user, "see this", turn=turn, quotes=(Quote(what="poll", text="a"), *quotes))


async def test_what_others_quote_of_somebody_is_erased_where_it_stands(
    store: SessionStore,
) -> None:
    await stored(
        store,
        "s",
        said("bob", turn="t1"),
        answers(),
        CompactionDoneEvent(summary="before", window_from=1),
        quoting("bob", "alice", "carol", turn="t2"),
        answers(),
        CompactionDoneEvent(summary="of it", window_from=5),
        quoting("bob", "carol", turn="t3"),
    )
    await stored(store, "other", quoting("bob", "carol", turn="t4"), answers())
    before = await store.read_log("s")
    assert await store.quoting("alice") == ["s"]
    assert await store.quoting("carol") == ["other", "s"]
    old = await read(store, "s")
    await store.unquote(await read(store, "s"), "alice")
    with pytest.raises(SessionConflictError):
        await store.unquote(old, "carol")
    log = await store.read_log("s")
    assert [each.seq for each in log] == [each.seq for each in before]
    told = [e.summary for e in log if isinstance(e, CompactionDoneEvent)]
    assert told == ["before", ""]
    quotes = [[q.what for q in e.quotes] for e in log if isinstance(e, UserMessageEvent)]
    assert quotes == [[], ["poll", FORGOTTEN.what, "of carol"], ["poll", "of carol"]]
    assert await store.quoting("alice") == []
    session = await read(store, "s")
    assert session.erasures == 1
    assert session.events == tuple(log[4:])
    with pytest.raises(SessionConflictError):
        await store.unquote(Session("none"), "alice")


async def test_quotes_go_with_the_turn_that_they_are_in(store: SessionStore) -> None:
    await stored(store, "s", quoting("bob", "alice", turn="t1"), answers())
    await store.erase(await read(store, "s"), ["t1"])
    assert await store.quoting("alice") == []
    await stored(store, "s", quoting("bob", "alice", turn="t2"), answers())
    await store.delete("s")
    assert await store.quoting("alice") == []


async def test_bytes_go_with_the_last_that_refers_to_them(store: SessionStore) -> None:
    def file(sha256: str) -> tuple[Attachment, ...]:
        return (Attachment(sha256=sha256, media_type="image/png", name="a.png"),)

    mine, ours, result = [await store.put_blob(each) for each in (b"mine", b"ours", b"result")]
    now = utc_now()
    await stored(
        store,
        "s",
        said("alice", turn="t1", at=now, attachments=(*file(mine), *file(ours))),
        ToolResultEvent(
            call_id="c",
            turn_id="t1",
            status=ToolStatus.OK,
            output="",
            at=now,
            attachments=file(result),
        ),
        answers(),
    )
    await stored(store, "other", said("bob", at=now, attachments=file(ours)), answers())
    await store.erase(await read(store, "s"), ["t1"])
    assert [await store.get_blob(each) for each in (mine, ours, result)] == [None, b"ours", None]
    assert await store.delete("other")
    assert await store.get_blob(ours) is None


async def test_bytes_that_are_about_to_be_referred_to_stay_for_a_while(
    store: SessionStore,
) -> None:
    sha256 = await store.put_blob(b"picture")
    files = (Attachment(sha256=sha256, media_type="image/png", name="a.png"),)
    await stored(store, "s", said("alice", turn="t1", at=utc_now(), attachments=files), answers())
    await store.put_blob(b"picture")  # of another message, not stored yet
    await store.erase(await read(store, "s"), ["t1"])
    assert await store.get_blob(sha256) == b"picture"
    await store.drop_blobs(utc_now() - timedelta(hours=1))
    assert await store.get_blob(sha256) == b"picture"
    await store.drop_blobs(utc_now() + timedelta(hours=1))
    assert await store.get_blob(sha256) is None


async def test_bytes_that_another_session_is_about_to_refer_to_survive_a_deletion(
    store: SessionStore,
) -> None:
    sha256 = await store.put_blob(b"picture")
    files = (Attachment(sha256=sha256, media_type="image/png", name="a.png"),)
    await stored(
        store,
        "old",
        said("alice", at=utc_now(), attachments=files),
        replace(answers(), at=utc_now()),
    )
    await store.put_blob(b"picture")  # of a message in another session, not stored yet
    assert await store.delete("old")
    await stored(store, "new", said("bob", at=utc_now(), attachments=files), answers())
    assert await store.get_blob(sha256) == b"picture"
    assert await store.delete("new")
    assert await store.get_blob(sha256) is None


async def test_where_somebody_wrote_is_told_in_pages_latest_first(store: SessionStore) -> None:
    for number in range(5):
        at = START + timedelta(seconds=number // 2)
        await stored(store, f"s{number}", said("alice", at=at), said("bob", at=START))
    await stored(store, "s0", said("alice", at=START + timedelta(days=1)))
    pages = []
    before = None
    while page := await store.written_by("alice", limit=1, before=before):
        pages.append([(each.session_id, each.messages) for each in page])
        before = page[-1].last_at
    assert pages == [[("s0", 2)], [("s4", 1)], [("s2", 1), ("s3", 1)], [("s1", 1)]]
    assert await store.authors("s0") == {"alice": 2, "bob": 1}
    assert await store.authors("none") == {}
    assert await store.turns_of("none", "alice") == ()


async def test_for_whom_a_session_was_made_is_forgotten(store: SessionStore) -> None:
    await stored(store, "s")
    await store.create("of-bob", "bob")
    await store.forget_user("alice")
    assert (await read(store, "s")).user_id is None
    assert (await read(store, "of-bob")).user_id == "bob"


async def test_only_what_is_idle_is_deleted_as_such(store: SessionStore) -> None:
    await stored(store, "open", said("alice"))
    await stored(store, "s", said("alice"), replace(answers(), at=START))
    later = START + timedelta(seconds=1)
    assert not await store.delete("open", idle_since=later)
    assert not await store.delete("s", idle_since=START - timedelta(seconds=1))
    assert [each.session_id for each in await store.sessions_after()] == ["open", "s"]
    assert await store.delete("s", idle_since=later)
    assert [each.session_id for each in await store.sessions_after("a", limit=1)] == ["open"]
    assert not await store.delete("s", idle_since=later)


async def test_a_reader_of_old_days_does_not_keep_what_was_erased(
    sqlite: SQLiteSessionManager,
) -> None:
    await stored(sqlite, "s", said("alice", "secret", turn="t1"), answers())
    other = SQLiteSessionManager(sqlite.database.path)
    await read(other, "s")
    await sqlite.erase(await read(sqlite, "s"), ["t1"])
    for store in (sqlite, other):
        assert all(isinstance(event, ErasedEvent) for event in (await read(store, "s")).events)
    session = await read(other, "s")
    session.append(said("bob", turn="t2"))
    await other.save(session)
    assert len((await read(other, "s")).events) == 3
    await other.close()


async def test_deliveries_of_erased_turns_are_noted_no_more(sqlite: SQLiteSessionManager) -> None:
    store = DeliveryStore(sqlite.database)
    await stored(sqlite, "s", said("alice", turn="turn-1"), answers())
    await store.put(SENT, replace(SENT, turn_id="turn-2"))
    await sqlite.erase(await read(sqlite, "s"), ["turn-1"])
    assert [each.turn_id for each in await store.of("s")] == ["turn-2"]
    await sqlite.erase(await read(sqlite, "s"), None)
    assert await store.of("s") == []


def bytes_of(database: Path) -> bytes:
    files = [database, *(database.with_name(database.name + end) for end in ("-wal", "-shm"))]
    return b"".join(each.read_bytes() for each in files if each.exists())


async def test_nothing_forgotten_is_left_in_the_files(sqlite: SQLiteSessionManager) -> None:
    rng = random.Random(6)  # noqa: S311 - sizes that make SQLite move rows between pages
    sessions = [await sqlite.create(f"s{number}") for number in range(40)]
    for number in range(3000):
        size = rng.choice([5, 50, 900, 3000])
        user = "alice" if number % 10 == 0 else "bob"
        session = sessions[rng.randrange(40)]
        session.append(said(user, f"<{user}-{number:05}>{'x' * size}<{user}-{number:05}>"))
        session.append(answers())
        if number % 5 == 0:
            await sqlite.save(session)
    for session in sessions:
        await sqlite.save(session)
    assert b"<alice-00010>" in bytes_of(sqlite.database.path)
    for written in await sqlite.written_by("alice", limit=100):
        found = await read(sqlite, written.session_id)
        await sqlite.erase(found, await sqlite.turns_of(found.session_id, "alice"))
    await sqlite.purge()
    left = bytes_of(sqlite.database.path)
    assert b"<alice-" not in left
    assert b"<bob-00001>" in left


async def test_a_purge_that_readers_hold_up_says_so(
    sqlite: SQLiteSessionManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    from bot.errors import StorageError
    from bot.storage import connection

    monkeypatch.setattr(connection, "EMPTYING_AGAIN", 0.0)
    await stored(sqlite, "s", said("alice", "secret", turn="t1"), answers())
    reader = sqlite3.connect(sqlite.database.path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM events").fetchone()
    await sqlite.erase(await read(sqlite, "s"), ["t1"])
    with pytest.raises(StorageError, match="still in the file"):
        await sqlite.purge()
    reader.execute("COMMIT")
    reader.close()
    await sqlite.purge()
    assert b"secret" not in bytes_of(sqlite.database.path)


# -- databases of before ---------------------------------------------------------------------------

OLD_EVENTS = [
    ("s", 1, said("alice", "one", turn="t1", attachments=(FILE,)).placed(1, "t1")),
    ("s", 2, answers().placed(2, "t1")),
    ("s", 3, said("bob", "\x00two \\u0000 \ud83e", turn="t2").placed(3, "t2")),
    (
        "s",
        4,
        ToolResultEvent(call_id="c", status=ToolStatus.OK, output="", attachments=(FILE,)).placed(
            4, "t2"
        ),
    ),
    ("other", 1, said("alice", at=START + timedelta(seconds=1)).placed(1, "t3")),
    ("other", 2, UserMessageEvent(text="by nobody").placed(2, "t4")),
]

LAST_SEQS = [("s", 4), ("other", 2)]


@pytest.fixture(params=["sqlite", "postgres"])
async def old(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SQLSessionManager]:
    """Open a database that an earlier version has filled."""
    if request.param == "sqlite":
        store: SQLSessionManager = SQLiteSessionManager(tmp_path / "old.db")
    else:
        store = PostgresSessionManager(request.getfixturevalue("postgres").new_database())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "scripts", lambda engine="sqlite": _scripts(engine)[:2])
        await store.database.execute_many(
            "INSERT INTO sessions (session_id, state, created_at, updated_at, version, last_seq,"
            " window_from, open_turns) VALUES (?, '{}', ?, ?, 1, ?, 1, '[]')",
            [
                (name, stored_time(START), stored_time(START), n)
                for name, n in [("s", 4), ("other", 2)]
            ],
        )
        await store.database.execute_many(
            "INSERT INTO events (session_id, seq, kind, turn_id, body) VALUES (?, ?, ?, ?, ?)",
            [(s, seq, e.kind, e.turn_id, codec.to_json(e)) for s, seq, e in OLD_EVENTS],
        )
        await store.database.execute(
            "INSERT INTO blobs (sha256, data) VALUES (?, ?)", (FILE.sha256, b"picture")
        )
        await store.close()
    yield store
    await store.close()


async def test_what_was_written_before_is_found_and_forgotten(old: SQLSessionManager) -> None:
    found = await old.written_by("alice")
    assert [(each.session_id, each.messages) for each in found] == [("other", 1), ("s", 1)]
    assert found[0].last_at == START + timedelta(seconds=1)
    assert await old.authors("s") == {"alice": 1, "bob": 1}
    assert await ids(RestStore(old.database).behind) == ["other", "s"]
    await old.erase(await read(old, "s"), ["t1"])
    assert await old.get_blob(FILE.sha256) == b"picture"
    await old.erase(await read(old, "s"), ["t2"])
    assert await old.get_blob(FILE.sha256) is None


# -- many sessions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "values"),
    [
        (listings._WRITTEN_BY, ("alice", "9", 10)),
        (listings._SELECT_AFTER, ("", 10)),
        ("SELECT user_id, messages FROM authors WHERE session_id = ?", ("s",)),
        (homes._ON, (1, 10)),
        (rests._RESTING, ("", "", "", 10)),
        (rests._BEHIND, ("", "", "", 10)),
        (rests._OPEN, ("", "", "", 10)),
        (actions._SESSIONS, ("", "", 10)),
        (actions._SESSIONS_IN_SERVER, ("", "", 7, 10)),
        (actions._TURNS, ("s", 0, 10)),
        (sql._QUOTING, ("alice",)),
        (deliveries._PRUNE, (1, 10)),
        (homes._PAGE, (1, "", 10)),
        (listings._SELECT_OPEN, ("", 10)),
    ],
)
async def test_no_query_looks_at_all_sessions(
    sqlite: SQLiteSessionManager, query: str, values: tuple[object, ...]
) -> None:
    steps = await plan_of(sqlite, query, values)
    assert all("USING" in step for step in steps if step.startswith(("SCAN", "SEARCH")))
    assert not any("TEMP B-TREE FOR ORDER BY" in step for step in steps), steps


async def test_somebodys_sessions_are_sorted_without_looking_at_those_of_others(
    sqlite: SQLiteSessionManager,
) -> None:
    steps = await plan_of(sqlite, listings._SELECT_PAGE, ("alice", "9", 10))
    looks = [step for step in steps if step.startswith(("SCAN", "SEARCH"))]
    assert set(looks) == {"SEARCH sessions USING INDEX sessions_of_user (user_id=?)"}


async def plan_of(
    sqlite: SQLiteSessionManager, query: str, values: tuple[object, ...]
) -> Sequence[str]:
    plan = await sqlite.database.fetch(f"EXPLAIN QUERY PLAN {query}", values)
    return [row[-1] for row in plan]


async def test_thousands_of_sessions_of_one_person_are_listed_in_pages(
    sqlite: SQLiteSessionManager,
) -> None:
    async def made(number: int) -> None:
        session = Session(f"s{number:04}", "alice")
        session.append(said("alice", at=START + timedelta(seconds=number)), answers())
        await sqlite.save(session)

    await asyncio.gather(*map(made, range(5000)))
    pages, before = [], None
    while page := await sqlite.written_by("alice", limit=100, before=before):
        pages.append([each.session_id for each in page])
        before = page[-1].last_at
    assert len(pages) == 50
    assert [name for each in pages for name in each] == [
        f"s{number:04}" for number in range(4999, -1, -1)
    ]
    assert len(await sqlite.list_sessions("alice", limit=100)) == 100
