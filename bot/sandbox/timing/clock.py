"""The time the sandbox lives in."""

import asyncio
import time
from contextlib import suppress
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
    """A clock that a test moves.

    It stands still in between, or with ``running`` goes on like any clock: then a bot that
    waits in real time gets along with it, and an hour can be skipped all the same.
    """

    def __init__(self, start: datetime | None = None, *, running: bool = False) -> None:
        self._start = start or datetime.now(UTC)
        self._moved = timedelta()
        self._running, self._since = running, time.monotonic()
        self._sleepers: list[tuple[datetime, asyncio.Event]] = []

    def now(self) -> datetime:
        """Return the moment the clock stands at."""
        passed = time.monotonic() - self._since if self._running else 0.0
        return self._start + self._moved + timedelta(seconds=passed)

    async def sleep(self, seconds: float) -> None:
        """Return once so many seconds have passed here, also when the clock was moved on."""
        sleeper = (self.now() + timedelta(seconds=seconds), asyncio.Event())
        self._sleepers.append(sleeper)
        try:
            await self._until(*sleeper)
        finally:
            self._sleepers.remove(sleeper)

    async def _until(self, due: datetime, woken: asyncio.Event) -> None:
        while (left := (due - self.now()).total_seconds()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(left if self._running else None):
                    await woken.wait()

    def advance(self, seconds: float) -> None:
        """Move the clock on and wake whoever slept until then, in the order of their times."""
        self._moved += timedelta(seconds=seconds)
        for due, woken in sorted(self._sleepers, key=lambda each: each[0]):
            if due <= self.now():
                woken.set()
