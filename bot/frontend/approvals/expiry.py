"""Timers that wake a session when a request in it expires; what follows, the log says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from bot.events import utc_now

SOONEST = 0.5  # seconds: so that a clock that is behind cannot make a busy loop


class Expiry:
    """One timer a session, for the first of its requests to expire."""

    def __init__(self, wake: Callable[[str], None]) -> None:
        self._wake = wake
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._closed = False

    def arm(self, session_id: str, at: datetime | None) -> None:
        """Wake the session at this time, and no longer at an earlier said one."""
        timer = self._timers.pop(session_id, None)
        if timer is not None:
            timer.cancel()
        if at is not None and not self._closed:
            delay = max(SOONEST, (at - utc_now()).total_seconds())
            loop = asyncio.get_running_loop()
            self._timers[session_id] = loop.call_later(delay, self._due, session_id)

    def expect(self, session_id: str, at: datetime) -> None:
        """Wake the session at this time, unless a time is known already: that is newer."""
        if session_id not in self._timers:
            self.arm(session_id, at)

    def _due(self, session_id: str) -> None:
        del self._timers[session_id]
        self._wake(session_id)

    def close(self) -> None:
        """Wake nobody any more."""
        self._closed = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
