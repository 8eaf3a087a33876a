"""Clocks: the sandbox lives in their time."""

import asyncio
from datetime import UTC, datetime, timedelta

from bot.sandbox import ManualClock, World
from bot.sandbox.timing.ids import EPOCH_MS, TIME_SHIFT

START = datetime(2026, 1, 1, tzinfo=UTC)


async def test_a_manual_clock_stands_still_until_it_is_moved() -> None:
    clock = ManualClock(START)
    assert clock.now() == clock.now() == START
    clock.advance(90)
    assert clock.now() == START + timedelta(seconds=90)


async def test_whoever_sleeps_wakes_in_the_order_of_time() -> None:
    clock, woken = ManualClock(START), list[int]()

    async def sleeper(seconds: int) -> None:
        await clock.sleep(seconds)
        woken.append(seconds)

    async with asyncio.TaskGroup() as tasks:
        for seconds in (30, 10, 20):
            tasks.create_task(sleeper(seconds))
        await asyncio.sleep(0)
        clock.advance(5)
        await asyncio.sleep(0)
        assert woken == []
        clock.advance(25)
    assert woken == [10, 20, 30]


async def test_a_sleeper_that_gives_up_is_forgotten() -> None:
    clock = ManualClock()
    task = asyncio.create_task(clock.sleep(1))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    clock.advance(2)
    await clock.sleep(0)
    assert task.cancelled()


async def test_a_running_clock_goes_on_and_can_be_moved() -> None:
    clock = ManualClock(START, running=True)
    await clock.sleep(0.01)
    assert timedelta(seconds=0.01) <= clock.now() - START < timedelta(minutes=1)
    sleeping = asyncio.create_task(clock.sleep(3600))
    await asyncio.sleep(0)
    clock.advance(3600)
    await asyncio.wait_for(sleeping, 30)


async def test_ids_and_times_follow_the_clock() -> None:
    clock = ManualClock(START)
    world = World(clock=clock)
    guild = world.guild("Home")
    alice = world.person("alice")
    guild.join(alice)
    general = guild.channel("general")
    clock.advance(3600)
    said = await alice.says("an hour later", in_=general)
    assert said.created_at == clock.now()
    assert (said.id >> TIME_SHIFT) + EPOCH_MS == clock.now().timestamp() * 1000
