"""Purging a SQLite file: how often, however many ask for it, and by which program."""

from __future__ import annotations

import asyncio
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Awaitable, Callable
from pathlib import Path

from bot.errors import StorageError

PROGRAM = Path(__file__).parent / "scrubbing.py"

REST = 1
"""How many times as long as it took a purge is followed by none: it reads the whole file."""


class Purging:
    """Lets those who ask at the same time share a purge, and leaves rests between two."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._done = 0
        self._rests_until = 0.0

    async def purge(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work, unless one that began after this was asked for has been done meanwhile."""
        enough = self._done + (2 if self._lock.locked() else 1)
        async with self._lock:
            if self._done >= enough:
                return
            await asyncio.sleep(max(0.0, self._rests_until - time.monotonic()))
            began = time.monotonic()
            await work()
            self._done += 1
            now = time.monotonic()
            self._rests_until = now + REST * (now - began)


async def scrubbed(path: Path, *, locked: float, read: float) -> None:
    """Have a file scrubbed by a program of its own.

    Raises:
        StorageError: with what it said, if it could not be done.
    """
    arguments = ("-I", str(PROGRAM), str(path), str(locked), str(read))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=PIPE,
        start_new_session=True,  # Ctrl-C is for us
    )
    try:
        _, said = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise StorageError(f"{path}: {said.decode(errors='replace').strip()}")
