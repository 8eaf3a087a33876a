"""What is to be said later: kept, taken once, and its owner's alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest

from bot.errors import NoRoomError
from bot.sessions.database.sql import SQLSessionManager
from bot.sessions.stores.recurrence import Once, Recurring
from bot.sessions.stores.schedules import MOST, Begun, Schedule, ScheduleStore
from tests.sessions.conftest import opened

NOW = datetime(2026, 11, 27, 15, 0, tzinfo=UTC)
DAILY = Schedule(
    schedule_id="schedule-1",
    user_id="user-1",
    session_id="channel-1",
    rule=Recurring(time(16)),
    zone="UTC",
    text="post the agenda",
    asks=True,
    due_at=NOW + timedelta(hours=1),
)
ONCE = replace(
    DAILY,
    schedule_id="schedule-2",
    rule=Once(NOW + timedelta(minutes=5)),
    due_at=NOW + timedelta(minutes=5),
    asks=False,
)


@pytest.fixture(params=["sqlite", "postgres"])
async def schedules(request: pytest.FixtureRequest) -> AsyncIterator[ScheduleStore]:
    async with opened(request.param, request) as store:
        assert isinstance(store, SQLSessionManager)
        yield ScheduleStore(store.database)


async def test_they_are_kept_and_found_when_due(schedules: ScheduleStore) -> None:
    added: list[str] = []
    schedules.on_added = lambda: added.append("one")
    assert await schedules.next_at(NOW) is None
    for each in (DAILY, ONCE, DAILY):
        await schedules.add(each)
    assert len(added) == 3
    assert await schedules.of("user-1") == [ONCE, DAILY]
    assert await schedules.of("user-2") == []
    assert await schedules.next_at(NOW) == ONCE.due_at
    assert await schedules.next_at(ONCE.due_at) == DAILY.due_at
    assert await schedules.due(NOW) == []
    assert await schedules.due(ONCE.due_at) == [ONCE]


async def test_it_is_known_whether_somebody_began_before(schedules: ScheduleStore) -> None:
    await schedules.add(DAILY)
    assert await schedules.begin(DAILY) is Begun.NOW
    assert await schedules.begin(DAILY) is Begun.BEFORE
    await schedules.move_on(DAILY, DAILY.due_at)
    assert await schedules.begin(DAILY) is Begun.OVER
    [daily] = await schedules.of("user-1")
    assert await schedules.begin(daily) is Begun.NOW


async def test_what_is_due_is_moved_on_once_however_many_try(schedules: ScheduleStore) -> None:
    await schedules.add(DAILY)
    await schedules.add(ONCE)
    tries = [schedules.move_on(each, each.due_at) for each in (DAILY, ONCE) * 5]
    assert sorted(await asyncio.gather(*tries)) == [False] * 8 + [True] * 2
    [daily] = await schedules.of("user-1")
    assert daily == replace(DAILY, due_at=DAILY.due_at + timedelta(days=1))
    # a clock that is put back does not bring back what was said
    assert await schedules.due(NOW) == []
    assert not await schedules.move_on(DAILY, NOW)


async def test_only_its_owner_ends_one(schedules: ScheduleStore) -> None:
    await schedules.add(DAILY)
    assert not await schedules.cancel("user-2", DAILY.schedule_id)
    assert await schedules.cancel("user-1", DAILY.schedule_id)
    assert not await schedules.move_on(DAILY, DAILY.due_at)


async def test_there_is_an_end_to_them(schedules: ScheduleStore) -> None:
    for number in range(MOST):
        await schedules.add(replace(DAILY, schedule_id=f"schedule-{number}"))
    with pytest.raises(NoRoomError):
        await schedules.add(replace(DAILY, schedule_id="schedule-more"))
    await schedules.add(replace(DAILY, schedule_id="schedule-7"))
    await schedules.add(replace(DAILY, schedule_id="schedule-more", user_id="user-2"))


async def test_time_zones_are_kept_and_everything_is_forgotten(schedules: ScheduleStore) -> None:
    assert await schedules.zone("user-1") == "UTC"
    await schedules.set_zone("user-1", "Asia/Tokyo")
    await schedules.set_zone("user-1", "Europe/Berlin")
    assert await schedules.zone("user-1") == "Europe/Berlin"
    await schedules.add(DAILY)
    await schedules.forget_user("user-1")
    assert await schedules.zone("user-1") == "UTC"
    assert await schedules.of("user-1") == []
