"""Days and months by UTC: from when on usage counts, and when a budget renews."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum


class Span(StrEnum):
    """How long a budget lasts."""

    DAY = "day"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Period:
    """A day or a month, from its first day up to, and without, the day on which it is over."""

    first: date
    over: date

    @classmethod
    def around(cls, span: Span, moment: datetime) -> Period:
        """Return the day or the month in which an aware moment lies."""
        day = moment.astimezone(UTC).date()
        if span is Span.DAY:
            return cls(day, day + timedelta(days=1))
        first = day.replace(day=1)
        return cls(first, (first + timedelta(days=31)).replace(day=1))

    @property
    def renews(self) -> datetime:
        """The moment at which the next one begins."""
        return datetime.combine(self.over, time(), UTC)
