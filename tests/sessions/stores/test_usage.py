from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from bot.events import Usage
from bot.sessions import SQLiteSessionManager
from bot.sessions.stores.periods import Period, Span
from bot.sessions.stores.usage import By, Purpose, Sums, UsageStore, Used
from bot.sessions.stores.usage_csv import CALLS, SUMS, call_row, csv_of, sums_row
from bot.storage import Database, PostgresDatabase, SQLiteDatabase

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
DAY, MONTH = Period.around(Span.DAY, NOON), Period.around(Span.MONTH, NOON)
USED = Used(
    turn_id="turn-1",
    call=0,
    at=NOON,
    purpose=Purpose.ANSWER,
    user_id="user-1",
    server_id=2**62,
    session_id="thread-9",
    model="gpt",
    usage=Usage(input_tokens=100, output_tokens=20, cached_tokens=60),
)
SUM = Sums(1, 0, 100, 20, 60)


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    made: Database
    if request.param == "sqlite":
        made = SQLiteDatabase(request.getfixturevalue("tmp_path") / "usage.db")
    else:
        made = PostgresDatabase(request.getfixturevalue("postgres").new_database())
    yield made
    await made.close()


@pytest.fixture
def store(database: Database) -> UsageStore:
    return UsageStore(database, clock=lambda: NOON)


async def all_calls(store: UsageStore, since: date = MONTH.first) -> list[Used]:
    return list(await store.calls(since))


async def test_a_call_is_kept_as_it_was(store: UsageStore) -> None:
    dm = replace(USED, turn_id="turn-2", user_id=None, server_id=None, purpose=Purpose.SUMMARY)
    assert await store.add(USED)
    assert await store.add(dm)
    assert await all_calls(store) == [USED, dm]


async def test_a_reported_zero_is_not_an_absent_report(store: UsageStore) -> None:
    zero = replace(USED, usage=Usage(input_tokens=0, output_tokens=0, cached_tokens=0))
    absent = replace(USED, call=1, usage=Usage())
    await store.add(zero)
    await store.add(absent)
    assert [each.usage for each in await all_calls(store)] == [zero.usage, absent.usage]
    assert await store.of_user("user-1", DAY) == Sums(2, 1, 0, 0, 0)
    assert await store.by(By.USER, MONTH.first) == [("user-1", Sums(2, 1, 0, 0, 0))]


async def test_what_is_noted_again_counts_once_also_when_several_do_it(store: UsageStore) -> None:
    added = await asyncio.gather(*(store.add(USED) for _ in range(8)))
    assert sum(added) == 1
    assert await store.of_user("user-1", DAY) == SUM
    assert await store.of_server(2**62, DAY) == SUM


async def test_sums_are_of_a_person_everywhere_and_of_a_server_s_people(store: UsageStore) -> None:
    await store.add(USED)
    await store.add(replace(USED, turn_id="turn-2", server_id=None))
    await store.add(replace(USED, turn_id="turn-3", user_id="user-2"))
    assert await store.of_user("user-1", DAY) == SUM + SUM
    assert await store.of_server(2**62, DAY) == SUM + SUM
    assert await store.of_server(5, DAY) == Sums()
    assert (SUM + SUM).tokens == 240


async def test_a_day_and_a_month_end_at_midnight_by_utc(store: UsageStore) -> None:
    midnight = datetime(2026, 12, 1, tzinfo=UTC)
    last = replace(USED, at=midnight - timedelta(microseconds=1))
    await store.add(last)
    await store.add(replace(USED, turn_id="turn-2", at=midnight))
    await store.add(replace(USED, turn_id="turn-3", at=NOON))
    for moment, of_day, of_month in ((last.at, SUM, SUM + SUM), (midnight, SUM, SUM)):
        day, month = (Period.around(span, moment) for span in Span)
        assert await store.of_user("user-1", day) == of_day
        assert await store.of_user("user-1", month) == of_month


async def test_a_server_is_told_by_person_most_first_and_by_day(store: UsageStore) -> None:
    yesterday = NOON - timedelta(days=1)
    await store.add(replace(USED, at=yesterday))
    await store.add(replace(USED, turn_id="turn-2", user_id="user-2"))
    await store.add(replace(USED, turn_id="turn-3", user_id="user-2"))
    await store.add(replace(USED, turn_id="turn-4", server_id=7))
    people = [("user-2", SUM + SUM), ("user-1", SUM)]
    assert await store.server_by_user(2**62, MONTH) == people
    days = [("2026-11-28", SUM), ("2026-11-29", SUM + SUM)]
    assert await store.server_by_day(2**62, MONTH) == days


async def test_calls_are_told_apart_by_what_is_asked(store: UsageStore) -> None:
    await store.add(USED)
    await store.add(replace(USED, call=1, user_id=None, server_id=None, model="other"))
    await store.add(replace(USED, call=2, at=NOON - timedelta(days=40)))
    since = MONTH.first
    assert await store.by(By.USER, since) == [("", SUM), ("user-1", SUM)]
    assert await store.by(By.SERVER, since) == [(0, SUM), (2**62, SUM)]
    assert await store.by(By.MODEL, since) == [("gpt", SUM), ("other", SUM)]
    assert await store.by(By.DAY, since) == [("2026-11-29", SUM + SUM)]


async def test_calls_come_in_pages(store: UsageStore) -> None:
    calls = [replace(USED, call=number) for number in range(5)]
    for each in reversed(calls):
        await store.add(each)
    first = await store.calls(MONTH.first, limit=2)
    rest = await store.calls(MONTH.first, after=first[-1], limit=9)
    assert [*first, *rest] == calls
    assert await store.calls(MONTH.over) == []


async def test_who_is_forgotten_leaves_only_sums(store: UsageStore) -> None:
    await store.add(USED)
    await store.add(replace(USED, turn_id="turn-2", server_id=None, session_id="dm-3"))
    await store.add(replace(USED, turn_id="turn-3", user_id=None))
    other = replace(USED, turn_id="turn-4", user_id="user-2")
    await store.add(other)
    await store.forget_user("user-1")
    await store.forget_user("user-1")
    assert await store.of_server(2**62, MONTH) == SUM + SUM + SUM
    assert await store.server_by_user(2**62, MONTH) == [("", SUM + SUM), ("user-2", SUM)]
    *forgotten, left = await all_calls(store)
    assert left == other
    assert {each.user_id for each in forgotten} == {None}
    assert [each.session_id for each in forgotten] == ["", "", "thread-9"]


async def test_who_is_forgotten_has_no_new_budget(store: UsageStore, database: Database) -> None:
    before = replace(USED, turn_id="turn-0", at=NOON - timedelta(days=40))
    for used in (before, USED, replace(USED, turn_id="turn-2", server_id=None)):
        await store.add(used)
    await store.forget_user("user-1")
    assert await store.of_user("user-1", MONTH) == SUM + SUM
    assert await store.of_user("user-1", Period.around(Span.MONTH, before.at)) == Sums()
    await store.add(replace(USED, turn_id="turn-3"))
    await store.forget_user("user-1")
    assert await store.of_user("user-1", MONTH) == SUM + SUM + SUM
    assert await store.of_user("user-2", MONTH) == Sums()
    later = UsageStore(database, clock=lambda: NOON + timedelta(days=9))
    await later.forget_user("user-2")
    assert await later.of_user("user-1", MONTH) == Sums()


async def test_sums_for_a_budget_are_read_by_an_index(sqlite: SQLiteSessionManager) -> None:
    for whose in (
        "usage_days WHERE user_id IN ('user-1', 'nameless-1')",
        "usage_server_days WHERE server_id = 1",
    ):
        sql = f"SELECT SUM(calls) FROM {whose} AND day >= '2' AND day < '3'"  # noqa: S608 - ours
        [[*_, plan]] = await sqlite.database.fetch(f"EXPLAIN QUERY PLAN {sql}")
        assert "SEARCH" in plan
        assert "day>" in plan


def test_what_was_used_is_told_as_csv_in_which_what_was_not_told_is_empty() -> None:
    dm = replace(USED, user_id=None, server_id=None, usage=Usage(input_tokens=0))
    header, told, untold = csv_of([CALLS, *map(call_row, (USED, dm))]).splitlines()
    assert header.count(",") == told.count(",") == untold.count(",")
    assert told == (
        f"2026-11-29T12:00:00.000000+00:00,user-1,{2**62},thread-9,gpt,answer,turn-1,0,100,20,60"
    )
    assert untold == "2026-11-29T12:00:00.000000+00:00,,,thread-9,gpt,answer,turn-1,0,0,,"
    assert csv_of([("user", *SUMS), sums_row("a, b", SUM)]) == (
        'user,calls,untold,input_tokens,output_tokens,cached_tokens\n"a, b",1,0,100,20,60\n'
    )


async def test_the_servers_where_somebody_was_answered_are_told_the_latest_first(
    store: UsageStore,
) -> None:
    for number, (server, days) in enumerate(((5, 3), (6, 0), (7, 1), (5, 2), (None, 0))):
        at = NOON - timedelta(days=days)
        await store.add(replace(USED, turn_id=f"turn-{number}", server_id=server, at=at))
    await store.add(replace(USED, turn_id="turn-9", server_id=8, user_id="user-2"))
    assert await store.servers_of("user-1", limit=9) == [6, 7, 5]
    assert await store.servers_of("user-1", limit=1) == [6]
    assert await store.servers_of("user-3", limit=9) == []
