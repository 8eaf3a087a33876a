"""Waiting for something to become true, without asking again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Changes:
    """Wakes whoever waits for something to become true, whenever something has changed."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Return once this holds; nothing else runs between that moment and the return."""
        while not holds():
            change = asyncio.get_running_loop().create_future()
            self._waiting.add(change)
            try:
                await change
            finally:
                self._waiting.discard(change)

    def tell(self) -> None:
        """Let everybody look again."""
        for change in self._waiting:
            if not change.done():
                change.set_result(None)
