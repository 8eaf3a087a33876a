"""When something is due: once, or again and again by the clock on somebody's wall.

Where the clocks go forward over a time, it is due as much later as they went; where they go back
over one, so that it is there twice, it is due the first time only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

LOOKED_AHEAD = timedelta(days=64)
"""No rule leaves out more than a month, and no zone more than a day."""

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class Once:
    """At one moment, in UTC."""

    at: datetime

    def __str__(self) -> str:
        return "once"


@dataclass(frozen=True, slots=True)
class Recurring:
    """At a time of the day.

    Attributes:
        at: Hours and minutes.
        weekdays: On which days of the week, 0 for Monday; empty: on all.
        day: On which day of the month, in a month that is shorter on its last; 0: on all.
    """

    at: time
    weekdays: tuple[int, ...] = ()
    day: int = 0

    def __post_init__(self) -> None:
        if not (0 <= self.day <= 31 and set(self.weekdays) <= set(range(7))):
            raise ValueError("a day of the month is 1 to 31, one of the week 0 to 6")

    def __str__(self) -> str:
        at = f"at {self.at:%H:%M}"
        if self.day:
            return f"on day {self.day} of every month {at}"
        if not self.weekdays:
            return f"every day {at}"
        if self.weekdays == (0, 1, 2, 3, 4):
            return f"every weekday {at}"
        return f"every {', '.join(DAYS[each] for each in self.weekdays)} {at}"

    def falls_on(self, day: date) -> bool:
        """Whether it is due on a day."""
        if self.weekdays and day.weekday() not in self.weekdays:
            return False
        last = (day + timedelta(days=1)).day == 1
        return not self.day or day.day == self.day or (last and day.day < self.day)


Rule = Once | Recurring


def next_due(rule: Rule, zone: ZoneInfo, after: datetime) -> datetime | None:
    """Return the first moment after another at which a rule says it is due, in UTC."""
    if isinstance(rule, Once):
        return rule.at if rule.at > after else None
    return next(each for each in _dues(rule, zone, after) if each > after)


def latest_due(rule: Rule, zone: ZoneInfo, due: datetime, now: datetime) -> datetime:
    """Return the last moment up to now at which it is due, known that it is at `due`."""
    if isinstance(rule, Once):
        return due
    since = max(due - timedelta(microseconds=1), now - LOOKED_AHEAD)
    return max((each for each in _dues(rule, zone, since) if due <= each <= now), default=due)


def _dues(rule: Recurring, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Give the moments from about a day before another one on, for as long as is looked ahead."""
    first = after.astimezone(zone).date() - timedelta(days=2)
    for number in range(LOOKED_AHEAD.days + 4):
        day = first + timedelta(days=number)
        if rule.falls_on(day):
            yield datetime.combine(day, rule.at, zone).astimezone(UTC)


def to_json(rule: Rule) -> str:
    """Return a rule as JSON."""
    if isinstance(rule, Once):
        return json.dumps({"once": rule.at.isoformat()})
    at = rule.at.isoformat("minutes")
    return json.dumps({"at": at, "weekdays": rule.weekdays, "day": rule.day})


def from_json(text: str) -> Rule:
    """Return the rule that was made JSON."""
    data = json.loads(text)
    if "once" in data:
        return Once(datetime.fromisoformat(data["once"]))
    weekdays: Sequence[int] = data["weekdays"]
    return Recurring(time.fromisoformat(data["at"]), tuple(weekdays), data["day"])
