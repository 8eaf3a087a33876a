"""Times as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import pytest

from bot.frontend.schedules.when import NOT_READ, PAST, TOO_FAR, WhenError, read_when
from bot.sessions.stores.recurrence import Once, Recurring, Rule

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 27, 15, 0, tzinfo=UTC)  # a Friday, 16:00 in Berlin


def once(text: str) -> Once:
    return Once(datetime.fromisoformat(text).replace(tzinfo=BERLIN).astimezone(UTC))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("in 20 minutes", once("2026-11-27 16:20")),
        ("In 1 hour", once("2026-11-27 17:00")),
        ("in 1 hour 30 minutes", once("2026-11-27 17:30")),
        ("in 2 days and 5 min", once("2026-11-29 16:05")),
        ("in 1week", once("2026-12-04 16:00")),
        ("17:30", once("2026-11-27 17:30")),
        ("at 9", once("2026-11-28 09:00")),
        ("9am", once("2026-11-28 09:00")),
        ("noon", once("2026-11-28 12:00")),
        ("today at 17:00", once("2026-11-27 17:00")),
        ("tomorrow 9:00", once("2026-11-28 09:00")),
        ("Tomorrow at 9:30 pm.", once("2026-11-28 21:30")),
        ("friday at noon", once("2026-12-04 12:00")),
        ("friday 17:00", once("2026-11-27 17:00")),
        ("sunday midnight", once("2026-11-29 00:00")),
        ("2026-12-24 18:00", once("2026-12-24 18:00")),
        ("every day at 8", Recurring(time(8))),
        ("every weekday 9:00", Recurring(time(9), (0, 1, 2, 3, 4))),
        ("every weekend at 12am", Recurring(time(0), (5, 6))),
        ("every monday and thursday at 9:30 pm", Recurring(time(21, 30), (0, 3))),
        ("every Tuesday, Friday, and Sunday 12pm", Recurring(time(12), (1, 4, 6))),
        ("every mondays at 7", Recurring(time(7), (0,))),
        ("every month on the 1st at 10:00", Recurring(time(10), day=1)),
        ("every month on the 31 9:00", Recurring(time(9), day=31)),
    ],
)
def test_what_is_understood(text: str, rule: Rule) -> None:
    assert read_when(text, BERLIN, NOW) == rule


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", NOT_READ),
        ("soon", NOT_READ),
        ("tomorrow", NOT_READ),
        ("tomorrow 25:00", NOT_READ),
        ("tomorrow 9:60", NOT_READ),
        ("tomorrow 13pm", NOT_READ),
        ("someday 9:00", NOT_READ),
        ("2026-02-30 9:00", NOT_READ),
        ("every 9:00", NOT_READ),
        ("every now and then", NOT_READ),
        ("every month on the 32nd at 9", NOT_READ),
        ("every month on the 0 at 9", NOT_READ),
        ("in a while", NOT_READ),
        ("in 0 minutes", PAST),
        ("today at 9:00", PAST),
        ("2020-01-01 9:00", PAST),
        ("2030-01-01 9:00", TOO_FAR),
        ("in 99999 weeks", TOO_FAR),
        (f"in {'99999 weeks ' * 6}".strip(), TOO_FAR),
    ],
)
def test_what_is_not(text: str, why: str) -> None:
    with pytest.raises(WhenError) as raised:
        read_when(text, BERLIN, NOW)
    assert str(raised.value) == why


def test_the_last_moment_there_is_is_too_far_away_in_every_zone() -> None:
    with pytest.raises(WhenError, match=TOO_FAR):
        read_when("9999-12-31 23:59", ZoneInfo("America/Lima"), NOW)
