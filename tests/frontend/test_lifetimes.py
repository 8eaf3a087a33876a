"""Tasks, timers and locks: nothing outlives who owns it."""

import asyncio
import logging
from datetime import timedelta

import pytest

from bot.events import utc_now
from bot.frontend.approvals.expiry import Expiry
from bot.frontend.locks import Locks
from bot.frontend.tasks import Tasks


async def test_finishing_waits_for_what_the_work_starts_too() -> None:
    tasks, done = Tasks(), []

    async def inner() -> None:
        done.append("inner")

    async def outer() -> None:
        tasks.start(inner(), name="inner")
        done.append("outer")

    tasks.start(outer(), name="outer")
    assert await tasks.finish(1.0)
    assert done == ["outer", "inner"]


async def test_work_that_does_not_end_is_cancelled() -> None:
    tasks = Tasks()
    task = tasks.task(asyncio.Event().wait(), name="endless")
    assert not await tasks.finish(0.0)
    await tasks.cancel()
    assert task.cancelled()


async def test_after_that_nothing_is_begun_any_more() -> None:
    tasks, begun = Tasks(), []

    async def late() -> None:
        begun.append("late")

    await tasks.cancel()
    tasks.start(late(), name="late")
    assert await tasks.finish(1.0)
    assert begun == []


async def test_a_failure_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    tasks = Tasks()

    async def fails() -> None:
        raise ValueError("no")

    with caplog.at_level(logging.ERROR):
        tasks.start(fails(), name="the work")
        assert await tasks.finish(1.0)
    assert "the work failed" in caplog.text


async def test_a_timer_wakes_when_the_request_expires() -> None:
    woken: asyncio.Queue[str] = asyncio.Queue()
    expiry = Expiry(woken.put_nowait)
    expiry.arm("dm-1", utc_now() + timedelta(hours=1))
    expiry.arm("dm-1", utc_now() - timedelta(hours=1))
    async with asyncio.timeout(30):
        assert await woken.get() == "dm-1"


async def test_a_timer_that_is_taken_back_or_closed_wakes_nobody() -> None:
    woken: list[str] = []
    expiry = Expiry(woken.append)
    expiry.arm("dm-1", utc_now())
    expiry.arm("dm-1", None)
    expiry.arm("dm-2", utc_now())
    expiry.close()
    expiry.arm("dm-3", utc_now())
    assert expiry._timers == {}


async def test_a_lock_is_had_in_the_order_of_asking_and_by_name() -> None:
    locks: Locks[int] = Locks()
    order: list[int] = []

    async def take(number: int) -> None:
        async with locks[7]:
            await asyncio.sleep(0)
            order.append(number)

    async with locks[7], locks[8]:
        waiting = [asyncio.create_task(take(number)) for number in range(3)]
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    assert order == [0, 1, 2]
