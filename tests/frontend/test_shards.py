"""Several processes: taking turns, and showing a session one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from bot.errors import StorageError
from bot.frontend.shards import Turnstile
from bot.frontend.showing.alone import Showing
from bot.frontend.tasks import Tasks
from bot.sessions import PostgresSessionManager, Session
from tests.postgres import Server
from tests.sessions.samples import says


@pytest.fixture
async def two(postgres: Server) -> AsyncIterator[list[PostgresSessionManager]]:
    """The managers of two processes."""
    url = postgres.new_database()
    made = [PostgresSessionManager(url), PostgresSessionManager(url)]
    yield made
    for each in made:
        await each.close()


async def test_one_of_all_processes_at_a_time_does_what_has_a_name(
    two: list[PostgresSessionManager],
) -> None:
    inside, most, done = 0, 0, 0

    async def work(manager: PostgresSessionManager) -> None:
        nonlocal inside, most, done
        async with manager.database.alone("work"):
            inside += 1
            most = max(most, inside)
            await manager.database.fetch("SELECT 1")
            inside -= 1
            done += 1

    await asyncio.gather(*(work(manager) for manager in two * 5))
    assert (most, done) == (1, 10)
    async with two[0].database.alone("one"), two[1].database.alone("other"):
        pass


async def test_a_lock_that_was_taken_beside_a_job_that_fails_is_given_back(
    two: list[PostgresSessionManager],
) -> None:
    """What waits together is run again alone when one of it fails, and takes the lock again."""
    first, second = (each.database for each in two)
    await first.open()
    for _ in range(5):
        failing = asyncio.create_task(first.execute("SELECT nonsense"))
        async with first.alone("work"):
            with pytest.raises(StorageError):
                await failing
        async with asyncio.timeout(30), second.alone("work"):
            pass


async def test_whoever_dies_in_a_block_frees_it(two: list[PostgresSessionManager]) -> None:
    entered = asyncio.Event()

    async def stay() -> None:
        async with two[0].database.alone("work"):
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(stay())
    await entered.wait()
    await two[0].close()  # the connection goes, and the lock with it
    async with asyncio.timeout(30), two[1].database.alone("work"):
        task.cancel()
    await asyncio.wait([task])


async def test_shards_of_a_bucket_identify_one_after_the_other() -> None:
    lock, tasks = asyncio.Lock(), Tasks()

    @asynccontextmanager
    async def alone(name: str) -> AsyncIterator[None]:
        async with lock:
            yield

    turnstile = Turnstile(alone, tasks, pause=60)
    await turnstile.enter("0")
    waiting = asyncio.create_task(turnstile.enter("0"))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert lock.locked()
    await tasks.cancel()
    assert not lock.locked()


async def test_who_gave_up_waiting_keeps_nobody_waiting() -> None:
    gate, tasks, entered = asyncio.Event(), Tasks(), []

    @asynccontextmanager
    async def alone(name: str) -> AsyncIterator[None]:
        await gate.wait()
        entered.append(name)
        yield

    waiting = asyncio.create_task(Turnstile(alone, tasks, pause=60).enter("0"))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    gate.set()
    assert await tasks.finish(5)
    assert entered == ["0"]


async def test_a_database_that_fails_is_told_to_who_waits() -> None:
    tasks = Tasks()

    def alone(name: str) -> AbstractAsyncContextManager[None]:
        raise StorageError("gone")

    with pytest.raises(StorageError):
        await Turnstile(alone, tasks).enter("0")
    assert await tasks.finish(5)


async def test_a_session_is_shown_by_one_process_and_in_it_by_many(
    two: list[PostgresSessionManager],
) -> None:
    here, there = Showing(two[0]), Showing(two[1])
    seen: list[str] = []

    async def show() -> None:
        async with there.of("s"):
            seen.append("there")

    async with here.of("s"):
        async with here.of("s"):
            task = asyncio.create_task(show())
        async with there.of("another"):
            seen.append("here")
    await task
    assert seen == ["here", "there"]
    async with Showing().of("s"), Showing().of("s"):
        assert not await Showing().is_elsewhere("s")


async def test_what_another_process_runs_is_shown_there(
    two: list[PostgresSessionManager],
) -> None:
    session = Session("s")
    session.append(says())
    await two[0].save(session)
    assert (await two[0].lease("s", await two[0].register())).taken
    assert await Showing(two[1]).is_elsewhere("s")
    assert not await Showing(two[0]).is_elsewhere("s")
    assert [Showing(two[0]).is_shared, Showing().is_shared] == [True, False]
