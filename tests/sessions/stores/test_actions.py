"""What tools did is found without reading what was merely said, in each engine."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from bot.errors import StorageError
from bot.events import RecordedEvent, utc_now
from bot.sessions import SQLiteSessionManager
from bot.sessions.database.sql import SQLSessionManager
from bot.sessions.stores import actions
from bot.sessions.stores.actions import ActionStore
from bot.sessions.stores.homes import Home, HomeStore
from tests.sessions.samples import answers, calls, decides, requests, results, says, starts


async def said(store: SQLSessionManager, name: str, *events: RecordedEvent) -> None:
    session = await store.get_or_create(name)
    session.append(*events)
    await store.save(session)


async def found(
    store: SQLSessionManager, *, server_id: int | None = None, since: datetime | None = None
) -> list[str]:
    sessions = ActionStore(store.database).sessions(server_id=server_id, since=since)
    return [each async for each in sessions]


async def test_sessions_are_found_by_what_tools_did_by_server_and_time(
    sql: SQLSessionManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "PAGE", 1)
    homes = HomeStore(sql.database)
    acts: dict[str, list[RecordedEvent]] = {
        "asked": [requests("a1", "c1")],
        "decided": [decides("a2")],
        "started": [starts("c3")],
        "ended": [results("c4")],
        "elsewhere": [results("c5")],
        "talked": [answers()],
    }
    for name, events in acts.items():
        await said(sql, name, says(), *events)
        await homes.put(name, Home(8 if name == "elsewhere" else 7, 1))
    await said(sql, "dm", says(), results("c6"))
    in_server = ["asked", "decided", "ended", "started"]
    assert await found(sql, server_id=7) == in_server
    assert await found(sql) == sorted([*in_server, "dm", "elsewhere"])
    later = utc_now() + timedelta(hours=1)
    assert await found(sql, since=later) == []
    assert await found(sql, since=later, server_id=7) == []


async def test_of_a_log_only_the_turns_in_which_tools_were_called_are_read(
    sql: SQLSessionManager,
) -> None:
    await said(sql, "s", says("one"), answers("1"))
    await said(sql, "s", says("two"), calls("c"), results("c"), answers("2"))
    await said(sql, "s", says("three"), answers("3"))
    store = ActionStore(sql.database)
    log = await store.log("s")
    assert [event.seq for event in log] == [3, 4, 5, 6]
    assert log == (await sql.read_log("s"))[2:6]
    assert await store.log("s", limit=1) == log[:1]
    assert await store.log("s", after=4) == log[2:]
    assert await store.log("other") == []


async def test_a_damaged_row_is_an_error(sql: SQLSessionManager) -> None:
    await said(sql, "s", says(), results("c"))
    await sql.database.execute("UPDATE events SET body = '{'")
    with pytest.raises(StorageError, match="damaged"):
        await ActionStore(sql.database).log("s")


@pytest.mark.parametrize("query", ["_SESSIONS", "_SESSIONS_IN_SERVER", "_TURNS"])
async def test_what_was_said_is_not_looked_through(
    sqlite: SQLiteSessionManager, query: str
) -> None:
    sql = getattr(actions, query)
    values = ("", "") if query == "_SESSIONS" else ("", "", 7) if "SERVER" in query else ("s", 0)
    plan = await sqlite.database.fetch(f"EXPLAIN QUERY PLAN {sql}", (*values, 10))
    assert any("COVERING INDEX events_of_tools" in row[-1] for row in plan)
