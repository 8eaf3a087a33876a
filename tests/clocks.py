"""The bot's clock, moved on by a test: nothing is waited for, and nothing is over too soon."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo

import pytest

from bot.events import base
from bot.frontend.approvals import expiry


@dataclass
class Clock:
    """Goes on by itself, and can be moved; stands where the bot's modules know `datetime`."""

    _moved: timedelta = field(default_factory=timedelta)

    def now(self, zone: tzinfo | None = None) -> datetime:
        return datetime.now(zone) + self._moved

    def advance(self, by: timedelta) -> None:
        self._moved += by


def movable(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the bot's clock; its timers of requests ring again and again, also before it is time.

    A request that has expired is noticed then by what rings next.
    """
    clock = Clock()
    monkeypatch.setattr(base, "datetime", clock)
    monkeypatch.setattr(expiry, "utc_now", lambda: datetime.now(UTC) + timedelta(days=365))
    return clock
