"""Waiting for the world to change, without polling."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 30.0
"""Seconds in which what is waited for comes also on a busy machine; only what fails takes them."""

T = TypeVar("T")


class Pulse:
    """Beats at every change; whoever waits looks again."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def beat(self) -> None:
        """Wake everyone who waits."""
        present, self._next = self._next, asyncio.Event()
        present.set()

    def next_beat(self) -> asyncio.Event:
        """Return what will be set at the next change; take it before looking at the world."""
        return self._next

    async def until(
        self, probe: Callable[[], T | None], within: float, complaint: Callable[[], str]
    ) -> T:
        """Return the first value of the probe that is not None.

        Raises:
            TimeoutError: Nothing came within so many seconds; its text is the complaint.
        """
        try:
            async with asyncio.timeout(within):
                while (found := probe()) is None:
                    await self._next.wait()
        except TimeoutError:
            raise TimeoutError(complaint()) from None
        return found
