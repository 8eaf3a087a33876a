"""Whether many sessions in one file cost anybody anything: `python -m benchmarks.many`.

Medians in milliseconds; what counts is that the columns are alike.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from bot.events import AssistantMessageEvent, Author, UserMessageEvent, utc_now
from bot.sessions import Session, SQLiteSessionManager
from bot.sessions.stores.deliveries import DeliveryStore
from bot.sessions.stores.rests import RestStore

SIZES = (1_000, 10_000, 100_000)
ROUNDS = 15
AT_ONCE = 1_000


async def filled(path: Path, count: int) -> None:
    """Make a file with so many sessions of a thousand people each."""
    store = SQLiteSessionManager(path)
    for start in range(0, count, AT_ONCE):
        await asyncio.gather(*(one(store, n) for n in range(start, start + AT_ONCE)))
    await store.close()


async def one(store: SQLiteSessionManager, number: int) -> None:
    user = f"user-{number % 1_000}"
    session = Session(f"thread-{number}", user)
    session.append(UserMessageEvent(text="hello " * 20, author=Author(user_id=user)))
    session.append(AssistantMessageEvent(text="hello " * 40))
    await store.save(session)
    await DeliveryStore(store.database).set_delivered_to(session.session_id, 2)


async def measured(path: Path) -> dict[str, float]:
    store = SQLiteSessionManager(path)
    start: list[float] = []
    for _ in range(ROUNDS):
        await store.close()
        start.append(await timed(lambda: started(store)))
    listing = [await timed(lambda: store.written_by("user-7", limit=10)) for _ in range(ROUNDS)]
    await store.close()
    return {"start-up": median(start), "/sessions": median(listing)}


async def started(store: SQLiteSessionManager) -> None:
    """Do what a start does with the sessions: open the file, and look for what is open."""
    await store.initialize()
    rests = RestStore(store.database)
    for read in (rests.behind, rests.open, rests.resting):
        await read("", utc_now())


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


def median(times: list[float]) -> float:
    return statistics.median(times) * 1000


async def main() -> None:
    print(f"{'sessions':>10} {'start-up':>10} {'/sessions':>10} {'purge':>10} {'MB':>6}")
    for size in SIZES:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "parley.db"
            await filled(path, size)
            found = await measured(path)
            store = SQLiteSessionManager(path)
            await store.initialize()
            purge = await timed(store.purge) * 1000
            await store.close()
            megabytes = path.stat().st_size / 1e6
        numbers = (found["start-up"], found["/sessions"], purge)
        print(f"{size:>10,} " + " ".join(f"{each:>10.2f}" for each in numbers), end=" ")
        print(f"{megabytes:>6.0f}")


if __name__ == "__main__":
    asyncio.run(main())
