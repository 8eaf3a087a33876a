"""What storage costs, beside raw sqlite3 in the same run: `python -m benchmarks.storage`.

Medians; on a noisy machine the ratios say more than the milliseconds.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

from benchmarks.rows import median
from bot.events import AssistantMessageEvent, RecordedEvent, UserMessageEvent, codec
from bot.sessions import Session, SQLiteSessionManager, SQLSessionManager

SIZES = (10, 100, 1_000, 10_000)
AT_ONCE = 200


def messages(count: int, start: int = 0) -> list[RecordedEvent]:
    return [
        UserMessageEvent(text=f"Question {n}? " * 5, source_id=f"discord-{start + n}")
        if n % 2 == 0
        else AssistantMessageEvent(text=f"Answer {n}. " * 10, model="some-model")
        for n in range(count)
    ]


def median_ms(times: list[float]) -> float:
    return statistics.median(times) * 1000


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


def raw_connection(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS events (session_id TEXT, seq INTEGER, body TEXT,"
        " PRIMARY KEY (session_id, seq)) WITHOUT ROWID"
    )
    return connection


def raw_turn(connection: sqlite3.Connection, session_id: str, seq: int, bodies: list[str]) -> None:
    rows = connection.execute(
        "SELECT body FROM events WHERE session_id = ? ORDER BY seq", (session_id,)
    ).fetchall()
    _ = [json.loads(body) for (body,) in rows]
    for offset, body in enumerate(bodies):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO events VALUES (?, ?, ?)", (session_id, seq + offset, body))
        connection.execute("COMMIT")


def raw_turns(path: Path, size: int, rounds: int) -> float:
    bodies = [codec.to_json(event) for event in messages(size)]
    with closing(raw_connection(path)) as connection:
        connection.execute("BEGIN")
        for number in range(rounds):
            rows = [(str(number), seq, body) for seq, body in enumerate(bodies)]
            connection.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")
    times = []
    with closing(raw_connection(path)) as connection:
        for number in range(rounds):
            start = time.perf_counter()
            raw_turn(connection, str(number), size, bodies[:2])
            times.append(time.perf_counter() - start)
    return median_ms(times)


async def turn(manager: SQLSessionManager, session_id: str, number: int) -> None:
    session = await manager.get(session_id)
    assert session is not None
    for event in messages(2, start=1_000_000 + 2 * number):
        session.append(event)
        await manager.save(session)


async def our_turns(path: Path, size: int, rounds: int) -> tuple[float, float]:
    manager = SQLiteSessionManager(path)
    warm: list[float] = []
    for number in range(rounds):
        session = Session(f"s{number}")
        session.append(*messages(size, start=number * size))
        await manager.save(session)
    cold = [await timed(lambda n=n: turn(manager, f"s{n}", n)) for n in range(rounds)]  # type: ignore[misc]
    for number in range(rounds):
        name = f"s{number}"
        await manager.get(name)
        warm.append(await timed(lambda n=name, i=number: turn(manager, n, rounds + i)))  # type: ignore[misc]
    await manager.close()
    return median_ms(warm), median_ms(cold)


async def at_once(path: Path, rounds: int) -> tuple[float, float, int]:
    """Time turns of all sessions together, and in turn with them what is raw, in ms."""
    manager = SQLiteSessionManager(path)
    names = [f"s{number}" for number in range(AT_ONCE)]
    await asyncio.gather(*(manager.create(name) for name in names))
    numbers = iter(range(1_000_000))
    ours, floor = [], []
    before = manager.database.transactions
    with closing(raw_connection(path.with_suffix(".raw"))) as connection:
        for number in range(rounds):

            async def all_turns() -> None:
                await asyncio.gather(*(turn(manager, name, next(numbers)) for name in names))

            ours.append(await timed(all_turns))
            floor.append(raw_at_once(connection, number))
    commits = (manager.database.transactions - before) // rounds
    await manager.close()
    return median(ours) * 1000, median(floor) * 1000, commits


def raw_at_once(connection: sqlite3.Connection, number: int) -> float:
    """Time one thread that loads all sessions, then commits twice for all of them."""
    body = codec.to_json(messages(1)[0])
    start = time.perf_counter()
    for session in range(AT_ONCE):
        query = "SELECT body FROM events WHERE session_id = ? ORDER BY seq"
        for (text,) in connection.execute(query, (str(session),)).fetchall():
            json.loads(text)
    for half in range(2):
        connection.execute("BEGIN IMMEDIATE")
        for session in range(AT_ONCE):
            row = (str(session), 2 * number + half, body)
            connection.execute("INSERT INTO events VALUES (?, ?, ?)", row)
        connection.execute("COMMIT")
    return time.perf_counter() - start


async def main(base: Path) -> None:
    print("a turn: load and two saves, ms    raw    warm  ratio    cold  ratio")
    for size in SIZES:
        rounds = 10 if size > 1_000 else 40
        with tempfile.TemporaryDirectory(dir=base) as name:
            raw = raw_turns(Path(name) / "raw.db", size, rounds)
            warm, cold = await our_turns(Path(name) / "ours.db", size, rounds)
        print(
            f"{size:>8,} events before       {raw:10.2f} {warm:7.2f} {warm / raw:6.2f}"
            f" {cold:7.2f} {cold / raw:6.2f}"
        )
    with tempfile.TemporaryDirectory(dir=base) as name:
        ours, raw, commits = await at_once(Path(name) / "ours.db", 15)
    print(f"\n{AT_ONCE} sessions at once, ms: {ours:.1f}; raw, one thread, two commits: {raw:.1f}")
    print(f"commits for {2 * AT_ONCE} saves: {commits}")


if __name__ == "__main__":
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.gettempdir())
    print(f"in {directory}")
    asyncio.run(main(directory))
