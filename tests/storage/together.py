"""Many who want something of one database at the same moment."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable

from bot.storage import Connection, Database


async def held_back(database: Database, *jobs: Callable[[Connection], object]) -> list[object]:
    """Run jobs that all wait at the same moment, behind one that takes its time."""
    await database.open()
    gate = threading.Event()
    first = asyncio.create_task(database.write(lambda _: gate.wait(30)))
    await asyncio.sleep(0)
    tasks = [asyncio.create_task(database.write(job)) for job in jobs]
    await asyncio.sleep(0)
    gate.set()
    await first
    return await asyncio.gather(*tasks, return_exceptions=True)


def errors_of_many(program: str, address: str, *, many: int = 8) -> list[str]:
    """Let processes go at once that have said they are ready; return what each complained of."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", program, address, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(many)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    return [process.communicate("go")[1] for process in processes]
