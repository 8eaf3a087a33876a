"""Times as people write them: a small grammar, which guesses nothing.

It reads ``in 20 minutes``, ``in 1 hour 30 minutes``, ``9:00``, ``today at 17:30``,
``tomorrow 9am``, ``friday noon``, ``2026-12-24 18:00``, ``every day at 8``, ``every weekday 9:00``,
``every monday and thursday at 9:30 pm``, ``every month on the 1st at 10:00``.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.sessions.stores.recurrence import DAYS, Once, Recurring, Rule, next_due

LONGEST = timedelta(days=366)
EXAMPLES = (
    "`in 20 minutes`, `tomorrow 9:00`, `friday at noon`, `2026-12-24 18:00`, `every weekday 9:00`, "
    "`every monday and thursday at 9:30`, `every month on the 1st at 10:00`"
)
NOT_READ = f"I do not understand that time. Some that I do: {EXAMPLES}."
PAST = "That time is over."
TOO_FAR = "That is more than a year away."

_UNITS = {"minute": 1, "min": 1, "hour": 60, "day": 24 * 60, "week": 7 * 24 * 60}
_SPAN = r"(\d{1,5}) ?(minute|min|hour|day|week)s?"
_IN = re.compile(rf"in ({_SPAN}(?:(?:,| and)? {_SPAN})*)")
_TIME = re.compile(r"(\d{1,2})(?::(\d\d))? ?(am|pm)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MONTHLY = re.compile(r"month on the (\d{1,2})(?:st|nd|rd|th)? (?:at )?(.+)")
_WEEKLY = re.compile(r"([a-z]+(?:(?:, and| and|,) [a-z]+)*) (?:at )?(.+)")
_DAYS = {name.lower(): number for number, name in enumerate(DAYS)}
_WORDS = {"noon": time(12), "midnight": time(0)}
_GROUPS = {
    "day": (),
    "weekday": (0, 1, 2, 3, 4),
    "weekend": (5, 6),
    **{name: (number,) for name, number in _DAYS.items()},
}


class WhenError(ValueError):
    """A time cannot be read, or is not one for a reminder; the message tells who wrote it."""


def read_when(text: str, zone: ZoneInfo, now: datetime) -> Rule:
    """Return when somebody means, by the clock of their zone.

    Raises:
        WhenError: if it is not understood, over, or too far away.
    """
    words = " ".join(text.casefold().split()).rstrip(".")
    if words.startswith("every "):
        return _every(words.removeprefix("every "))
    try:
        rule = Once(_moment(words, zone, now))
    except OverflowError:
        raise WhenError(TOO_FAR) from None
    if rule.at <= now:
        raise WhenError(PAST)
    if rule.at - now > LONGEST:
        raise WhenError(TOO_FAR)
    return rule


def _moment(words: str, zone: ZoneInfo, now: datetime) -> datetime:
    if match := _IN.fullmatch(words):
        spans = re.findall(_SPAN, match[1])
        return now + timedelta(minutes=sum(int(number) * _UNITS[unit] for number, unit in spans))
    day, _, rest = words.partition(" ")
    today = now.astimezone(zone).date()
    if day == "at" or (day[0:1].isdigit() and not _DATE.fullmatch(day)) or day in _WORDS:
        return _next(Recurring(_time(words.removeprefix("at "))), zone, now)
    at = _time(rest.removeprefix("at "))
    if day in _DAYS:
        return _next(Recurring(at, (_DAYS[day],)), zone, now)
    return datetime.combine(_day(day, today), at, zone).astimezone(UTC)


def _next(rule: Recurring, zone: ZoneInfo, now: datetime) -> datetime:
    due = next_due(rule, zone, now)
    assert due is not None  # noqa: S101 - what recurs does so for ever
    return due


def _day(word: str, today: date) -> date:
    if word in ("today", "tomorrow"):
        return today + timedelta(days=word == "tomorrow")
    try:
        return date.fromisoformat(word)
    except ValueError:
        raise WhenError(NOT_READ) from None


def _every(words: str) -> Recurring:
    if match := _MONTHLY.fullmatch(words):
        if not 1 <= int(match[1]) <= 31:
            raise WhenError(NOT_READ)
        return Recurring(_time(match[2]), day=int(match[1]))
    match = _WEEKLY.fullmatch(words)
    names = re.split(r",? and |, ", match[1]) if match else []
    if match is None or not all(name.removesuffix("s") in _GROUPS for name in names):
        raise WhenError(NOT_READ)
    days = {day for name in names for day in _GROUPS[name.removesuffix("s")]}
    every = any(name == "day" for name in names)
    return Recurring(_time(match[2]), () if every else tuple(sorted(days)))


def _time(words: str) -> time:
    if words in _WORDS:
        return _WORDS[words]
    match = _TIME.fullmatch(words)
    if match is None:
        raise WhenError(NOT_READ)
    hour, minute, half = int(match[1]), int(match[2] or 0), match[3]
    if half and not 1 <= hour <= 12:
        raise WhenError(NOT_READ)
    hour = hour % 12 + 12 * (half == "pm") if half else hour
    try:
        return time(hour, minute)
    except ValueError:
        raise WhenError(NOT_READ) from None
