"""Many who want something of one database at the same moment."""

from __future__ import annotations

import asyncio
import threading
from asyncio.subprocess import PIPE
from collections.abc import Callable
from pathlib import Path

from bot.storage import Connection, Database
from tests.commands import environment
from tests.forking.client import create_forked


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


async def errors_of_many(folder: Path, program: str, address: str, *, many: int = 8) -> list[str]:
    """Let processes go at once that have said they are ready; return what each complained of."""
    (file := folder / "program.py").write_text(program)
    processes = [
        await create_forked(
            *(str(file), address, str(number)),
            env=environment({}),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
        )
        for number in range(many)
    ]
    for process in processes:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
    ended = await asyncio.gather(*(process.communicate(b"go") for process in processes))
    return [errors.decode() for _, errors in ended]
