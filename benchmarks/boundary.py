"""What a compacted session costs, however long its log is: `python -m benchmarks.boundary`.

The same window of 100 events, at the end of a log of 100 and of 10,000. The floor is raw sqlite3:
the session's row, and the bodies of the window. Medians, measured in turns; the ratio counts.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from benchmarks.storage import median_ms, messages, timed
from bot.events import CompactionDoneEvent
from bot.sessions import Session, SQLiteSessionManager

WINDOW = 100
SIZES = (WINDOW, 10_000)
ROUNDS = 300
ALLOWED = 1.2


async def filled(path: Path, size: int) -> None:
    """Store a session of so many events, of which the last hundred are its window."""
    manager = SQLiteSessionManager(path)
    session = Session("s")
    session.append(*messages(size - 1))
    begins = size - WINDOW + 1
    session.append(CompactionDoneEvent(summary="what was said " * 50, window_from=begins))
    await manager.save(session)
    await manager.close()


def raw_get(path: Path) -> float:
    """Time reading the window's bodies with nothing around it."""
    with closing(sqlite3.connect(path)) as connection:
        start = time.perf_counter()
        query = "SELECT window_from FROM sessions WHERE session_id = 's'"
        [(begins,)] = connection.execute(query).fetchall()
        rows = connection.execute(
            "SELECT body FROM events WHERE session_id = 's' AND seq >= ? ORDER BY seq", (begins,)
        ).fetchall()
        assert len(rows) == WINDOW
        return time.perf_counter() - start


async def cold_get(path: Path) -> float:
    """Time `get` by a manager that has never seen the session."""
    manager = SQLiteSessionManager(path)
    await manager.initialize()
    took = await timed(lambda: manager.get("s"))
    await manager.close()
    return took


async def main(base: Path) -> int:
    with tempfile.TemporaryDirectory(dir=base) as name:
        paths = {size: Path(name) / f"{size}.db" for size in SIZES}
        for size, path in paths.items():
            await filled(path, size)
        floor: dict[int, list[float]] = {size: [] for size in SIZES}
        cold: dict[int, list[float]] = {size: [] for size in SIZES}
        warm: dict[int, list[float]] = {size: [] for size in SIZES}
        managers = {size: SQLiteSessionManager(path) for size, path in paths.items()}
        for number in range(ROUNDS):
            for size in SIZES if number % 2 else reversed(SIZES):
                floor[size].append(raw_get(paths[size]))
                warm[size].append(await timed(lambda each=managers[size]: each.get("s")))  # type: ignore[misc]
                if number % 5 == 0:
                    cold[size].append(await cold_get(paths[size]))
        for manager in managers.values():
            await manager.close()
    print(
        f"get of a window of {WINDOW} events, ms   {'  '.join(f'{s:>7,}' for s in SIZES)}   ratio"
    )
    ratios = []
    for label, times in (("raw sqlite3", floor), ("cold", cold), ("warm", warm)):
        medians = [median_ms(times[size]) for size in SIZES]
        ratios.append(medians[1] / medians[0])
        told = "  ".join(f"{each:7.3f}" for each in medians)
        print(f"{label:<36} {told}   {ratios[-1]:5.2f}")
    return int(max(ratios[1:]) > ALLOWED)


if __name__ == "__main__":
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.gettempdir())
    print(f"in {directory}")
    sys.exit(asyncio.run(main(directory)))
