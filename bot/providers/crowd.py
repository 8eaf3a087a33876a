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
READS = 4_000.0
"""Reads a second of more, all together."""


class Crowd:
    """The answers that are being read."""

    def __init__(self) -> None:
        self._count = 0

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

    async def pause(self) -> None:
        """Wait so long, if at all."""
        if self._count > FEW:
            await asyncio.sleep(self.seconds)
