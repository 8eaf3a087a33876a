"""How often each of many answers is read, when they are written at the same time.

A wake-up for each word costs more than the word. What comes meanwhile waits in the connection,
which the operating system holds, and is read together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

FEW = 20
"""So many answers at once are each read as soon as something comes."""
READS = 1_000.0
"""Reads a second of more, all together."""
LONGEST = 0.01
"""Seconds that all together hold up the event loop, before each lets it go on."""


class Crowd:
    """The answers that are being read."""

    def __init__(self) -> None:
        self._count = 0
        self._turns = 0
        self._turn_ends: float | None = None

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Be one of them while the block lasts."""
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1

    @property
    def seconds(self) -> float:
        """How long each waits between two reads."""
        return self._count / READS if self._count > FEW else 0.0

    @property
    def turn(self) -> int:
        """The number of this turn of the event loop: what waits for something sees another."""
        if self._turn_ends is None:
            loop = asyncio.get_running_loop()
            self._turn_ends = loop.time() + LONGEST
            loop.call_soon(self._end_turn)
        return self._turns

    def _end_turn(self) -> None:
        self._turns += 1
        self._turn_ends = None

    async def pause(self, *, waited: bool) -> None:
        """Let something gather, if there was nothing more to read; else let others go on in time.

        Args:
            waited: Whether what was read had to be waited for. A service sends each word as a
                block of its own, and those that came together are read without waiting.
        """
        if self._count <= FEW:
            return
        if waited:
            await asyncio.sleep(self.seconds)
        elif self._turn_ends is not None and asyncio.get_running_loop().time() > self._turn_ends:
            await asyncio.sleep(0)
