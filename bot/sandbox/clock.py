"""The time the sandbox lives in."""

import asyncio
import heapq
import itertools
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What tells the time, and waits."""

    def now(self) -> datetime:
        """Return the present moment, in UTC."""

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds of this clock."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the present moment, in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        await asyncio.sleep(seconds)


class ManualClock:
    """A clock that stands still until a test moves it."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = start or datetime.now(UTC)
        self._sleepers: list[tuple[datetime, int, asyncio.Event]] = []
        self._order = itertools.count()

    def now(self) -> datetime:
        """Return the moment the clock stands at."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Return once the clock was moved so many seconds on."""
        woken = asyncio.Event()
        due = self._now + timedelta(seconds=seconds)
        heapq.heappush(self._sleepers, (due, next(self._order), woken))
        await woken.wait()

    def advance(self, seconds: float) -> None:
        """Move the clock on and wake whoever slept until then."""
        self._now += timedelta(seconds=seconds)
        while self._sleepers and self._sleepers[0][0] <= self._now:
            heapq.heappop(self._sleepers)[2].set()
