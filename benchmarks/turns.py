"""Rows of storage: `python -m benchmarks.all turns`.

Ours and the floor take turns, so that what else the machine does meets both alike. In memory:
a folder that is no disk, where there is one.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.rows import Row, median, plus, times
from benchmarks.storage import at_once, messages, raw_connection, raw_turn, timed, turn
from bot.events import codec
from bot.sessions import Session, SQLiteSessionManager

MEMORY = Path("/dev/shm")  # noqa: S108 - its own folder is made in it
RAW = "raw sqlite3"
FILLED = 40_000
"""Events of all sessions of one row together, at most: where each has few, many are measured."""
MOST_ROUNDS = 400
AWAITED = f"{RAW} in one thread, awaited"
GOALS = ((100, 0.8 / 0.30, 0.8), (1_000, 1.0 / 2.2, 1.0), (10_000, 0.15, 2.1))
"""Events, and what a turn after them may cost: times its floor, or milliseconds."""
FEW, MORE = 10, 0.2
"""So few events that most of a turn is waking a thread three times; milliseconds beside that."""
COLD = 1.3
TOGETHER = 60 / 16


class Pair:
    """Sessions of so many events, ours and raw ones."""

    def __init__(self, folder: Path, size: int, rounds: int) -> None:
        self.size, self.rounds = size, rounds
        self.manager = SQLiteSessionManager(folder / "ours.db")
        self.path = folder / "ours.db"
        self.raw = raw_connection(folder / "raw.db")

    async def fill(self) -> None:
        self.raw.execute("BEGIN")
        for number in range(self.rounds):
            session = Session(f"s{number}")
            session.append(*messages(self.size, start=number * self.size))
            await self.manager.save(session)
            bodies = [codec.to_json(event) for event in session.events]
            rows = [(str(number), seq, body) for seq, body in enumerate(bodies)]
            self.raw.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
        self.raw.execute("COMMIT")
        self.bodies = bodies[:2]
        await self.manager.close()
        self.manager = SQLiteSessionManager(self.path)
        await self.manager.initialize()

    async def cold(self) -> tuple[list[float], list[float]]:
        """Time loads of sessions that were never loaded."""
        floor, ours, kept = [], [], []
        for number in range(self.rounds):
            started = time.perf_counter()
            kept.append(raw_load(self.raw, str(number)))  # as ours is
            floor.append(time.perf_counter() - started)
            ours.append(await timed(lambda n=number: self.manager.get(f"s{n}")))  # type: ignore[misc]
        return floor, ours

    async def warm(self) -> tuple[list[float], list[float]]:
        """Time turns, a load and two saves, of sessions that are known."""
        floor, ours = [], []
        for number in range(self.rounds):
            started = time.perf_counter()
            raw_turn(self.raw, str(number), self.size, self.bodies)
            floor.append(time.perf_counter() - started)
            name, seq = f"s{number}", self.rounds + number
            await self.manager.get(name)
            ours.append(await timed(lambda n=name, i=seq: turn(self.manager, n, i)))  # type: ignore[misc]
        return floor, ours

    async def close(self) -> None:
        self.raw.close()
        await self.manager.close()


def raw_load(connection: sqlite3.Connection, session_id: str) -> list[object]:
    query = "SELECT body FROM events WHERE session_id = ? ORDER BY seq"
    return [json.loads(body) for (body,) in connection.execute(query, (session_id,)).fetchall()]


def in_memory() -> Path | None:
    """Return a folder that is no disk, where there is one."""
    return MEMORY if MEMORY.is_dir() else None


async def rows() -> Sequence[Row]:
    made: list[Row] = []
    base = in_memory()
    with tempfile.TemporaryDirectory(dir=base) as name:
        floor, ours = await beside_a_thread(Pair(Path(name), FEW, MOST_ROUNDS))
    what = f"a turn's storage after {FEW} events"
    made.append(plus(what, "ms", median(floor), median(ours), MORE, AWAITED, 1e3))
    for size, ratio, at_best in GOALS:
        with tempfile.TemporaryDirectory(dir=base) as name:
            pair = Pair(Path(name), size, min(MOST_ROUNDS, max(12, FILLED // size)))
            await pair.fill()
            cold = await pair.cold()
            warm = await pair.warm()
            await pair.close()
        what = f"a turn's storage after {size:,} events"
        made.append(times(what, "ms", *map(median, warm), ratio, RAW, 1e3, at_best))
        if size == 1_000:
            what = f"a cold load of {size:,} events"
            made.append(times(what, "ms", *map(median, cold), COLD, RAW, 1e3))
    with tempfile.TemporaryDirectory() as name:
        floor, ours = await beside_a_thread(Pair(Path(name), 100, 150))
    what = "a turn's storage after 100 events, on disk"
    made.append(times(what, "ms", median(floor), median(ours), 1.3, AWAITED, 1e3))
    with tempfile.TemporaryDirectory(dir=base) as name:
        together, raw, _ = await at_once(Path(name) / "ours.db", 25)
    of = f"{RAW}, two commits"
    made.append(times("200 sessions at once", "ms", raw, together, TOGETHER, of, 1.0, 60))
    return made


async def beside_a_thread(pair: Pair) -> tuple[list[float], list[float]]:
    """Time turns as `Pair.warm` does; the floor is one thread that commits for others."""
    await pair.fill()
    floor, ours = [], []
    worker = Worker(pair)
    for number in range(pair.rounds):
        name, seq = f"s{number}", pair.rounds + number
        await pair.manager.get(name)
        floor.append(await timed(lambda n=number: worker.turn(n)))  # type: ignore[misc]
        ours.append(await timed(lambda n=name, i=seq: turn(pair.manager, n, i)))  # type: ignore[misc]
    await worker.close()
    await pair.close()
    return floor, ours


class Worker:
    """One thread with a raw connection, asked for each load and each commit."""

    def __init__(self, pair: Pair) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._pair = pair
        self._thread = ThreadPoolExecutor(1)
        self._path = pair.path.with_name("raw.db")
        self._connection: sqlite3.Connection | None = None

    async def turn(self, number: int) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._load, number)
        for offset in range(2):
            await loop.run_in_executor(self._thread, self._save, number, offset)

    def _load(self, number: int) -> None:
        if self._connection is None:
            self._connection = raw_connection(self._path)
        raw_load(self._connection, str(number))

    def _save(self, number: int, offset: int) -> None:
        assert self._connection
        self._connection.execute("BEGIN IMMEDIATE")
        row = (str(number), self._pair.size + offset, self._pair.bodies[offset])
        self._connection.execute("INSERT INTO events VALUES (?, ?, ?)", row)
        self._connection.execute("COMMIT")

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        if self._connection is not None:
            await loop.run_in_executor(self._thread, self._connection.close)
        self._thread.shutdown()
