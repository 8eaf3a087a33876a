"""What asking for a budget costs with a million calls: `python -m benchmarks.usage`.

Beside it stand a call of raw sqlite3 for the same sums, and the sums over all calls, which the
tables of days save. A server of 1,000 people who all write every day is the worst of it. Medians.
"""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.agent.usage.budgets import Budgets, Limits
from bot.agent.usage.meter import Call
from bot.agent.usage.metering import StoredMeter
from bot.events import Usage
from bot.sessions.stores.homes import Home, HomeStore
from bot.sessions.stores.periods import Period, Span
from bot.sessions.stores.usage import UsageStore
from bot.storage import SQLiteDatabase

CALLS = 1_000_000
PEOPLE = 1_000
DAYS = 30
ROUNDS = 200
PLACES = ", ".join("?" * 11)
NOW = datetime(2026, 1, DAYS, 23, tzinfo=UTC)
ENDLESS = Limits(10**12, 10**12)
ALL_OF_A_DAY = """
    INSERT INTO usage_days SELECT server_id, substr(at, 1, 10), user_id, COUNT(*), 0,
    SUM(input_tokens), SUM(output_tokens), SUM(cached_tokens) FROM usage GROUP BY 1, 2, 3"""
ALL_OF_A_SERVER = """
    INSERT INTO usage_server_days SELECT server_id, day, SUM(calls), SUM(untold),
    SUM(input_tokens), SUM(output_tokens), SUM(cached_tokens) FROM usage_days GROUP BY 1, 2"""
FLOOR = """
    SELECT SUM(input_tokens) FROM usage_days
    WHERE user_id = 'user-7' AND day >= '2026-01-01' AND day < '2026-02-01'"""
FLOOR_SERVER = """
    SELECT SUM(input_tokens) FROM usage_server_days
    WHERE server_id = 1 AND day >= '2026-01-01' AND day < '2026-02-01'"""
NAIVE = "SELECT SUM(input_tokens) FROM usage WHERE user_id = 'user-7' AND at >= '2026-01-01'"
NAIVE_SERVER = "SELECT SUM(input_tokens) FROM usage WHERE server_id = 1 AND at >= '2026-01-01'"


def calls() -> Iterator[tuple[object, ...]]:
    for number in range(CALLS):
        at = NOW - timedelta(days=DAYS) * (number / CALLS)
        row = (f"turn-{number:x}", 0, at.isoformat(timespec="microseconds"), "answer")
        user = f"user-{number % PEOPLE}"
        yield *row, user, 1, "thread-1", "some-model", 1000, 100, 500


def fill(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany(
            "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", calls()
        )
        connection.execute(ALL_OF_A_DAY)
        connection.execute(ALL_OF_A_SERVER)
        connection.commit()


async def timed(work: Callable[[int], Awaitable[object]], rounds: int = ROUNDS) -> float:
    times = []
    for number in range(rounds):
        start = time.perf_counter()
        await work(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


async def query(connection: sqlite3.Connection, sql: str, rounds: int = ROUNDS) -> float:
    async def once(_: int) -> None:
        connection.execute(sql).fetchone()

    return await timed(once, rounds)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "usage.db"
        database = SQLiteDatabase(path)
        usage, homes = UsageStore(database), HomeStore(database)
        await homes.put("s", Home(1, 2))
        fill(path)

        def meter(**budgets: Limits) -> StoredMeter:
            parts = {"usage": usage, "homes": homes, "clock": lambda: NOW}
            return StoredMeter(budgets=Budgets(**budgets), **parts)

        async def admitted(**budgets: Limits) -> float:
            asked = meter(**budgets)
            return await timed(lambda _: asked.admit("s", "user-7"))

        async def note(number: int) -> None:
            call = Call(session_id="s", turn_id="t", number=number, user_id="user-7", model="m")
            await meter().note(call, Usage(input_tokens=1, output_tokens=1))

        print(f"{CALLS:,} calls of {PEOPLE:,} people in one server and {DAYS} days; ms")
        print(f"admit, no budget         {await admitted():8.3f}")
        print(f"admit, a person's        {await admitted(person=ENDLESS):8.3f}")
        print(f"admit, a server's        {await admitted(server=ENDLESS):8.3f}")
        both = await admitted(person=ENDLESS, server=ENDLESS)
        print(f"admit, both              {both:8.3f}")
        print(f"note                     {await timed(note):8.3f}")
        month = Period.around(Span.MONTH, NOW)
        people = await timed(lambda _: usage.server_by_user(1, month), 20)
        print(f"/usage, by people        {people:8.3f}")
        with closing(sqlite3.connect(path)) as raw:
            print(f"floor, a person's month  {await query(raw, FLOOR):8.3f}")
            print(f"floor, a server's month  {await query(raw, FLOOR_SERVER):8.3f}")
            print(f"all calls, a person's    {await query(raw, NAIVE, 20):8.3f}")
            print(f"all calls, a server's    {await query(raw, NAIVE_SERVER, 3):8.3f}")
        await database.close()


if __name__ == "__main__":
    asyncio.run(main())
