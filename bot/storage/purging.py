"""Purging a database: how often, however many ask for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

REST = 10
"""How many times as long as it took a purge is followed by none: writes wait for it."""


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
