"""When things are due, over changes of the clocks."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sessions.stores.recurrence import (
    Once,
    Recurring,
    Rule,
    from_json,
    latest_due,
    next_due,
    to_json,
)

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
APIA, LORD_HOWE = ZoneInfo("Pacific/Apia"), ZoneInfo("Australia/Lord_Howe")
DAILY = Recurring(time(2, 30))
WEEKDAYS = Recurring(time(9), (0, 1, 2, 3, 4))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("rule", "zone", "after", "due"),
    [
        # the clocks go forward at 2:00: 2:30 is not there, and comes an hour later
        (DAILY, BERLIN, "2026-03-28 00:00", "2026-03-28 01:30"),
        (DAILY, BERLIN, "2026-03-28 01:30", "2026-03-29 01:30"),  # shown as 3:30
        (DAILY, BERLIN, "2026-03-29 01:30", "2026-03-30 00:30"),
        # they go back at 3:00: 2:30 is there twice, and counts the first time
        (DAILY, BERLIN, "2026-10-24 12:00", "2026-10-25 00:30"),
        (DAILY, BERLIN, "2026-10-25 00:30", "2026-10-26 01:30"),
        (DAILY, NEW_YORK, "2026-03-07 12:00", "2026-03-08 07:30"),
        (DAILY, NEW_YORK, "2026-10-31 12:00", "2026-11-01 07:30"),
        (Recurring(time(1, 30)), NEW_YORK, "2026-10-31 12:00", "2026-11-01 05:30"),
        (Recurring(time(1, 30)), NEW_YORK, "2026-11-01 05:30", "2026-11-02 06:30"),
        # half an hour only
        (Recurring(time(2, 15)), LORD_HOWE, "2026-10-03 12:00", "2026-10-03 15:45"),
        # a day that a zone left out: it falls together with the next
        (Recurring(time(8)), APIA, "2011-12-29 17:00", "2011-12-29 18:00"),
        (Recurring(time(8)), APIA, "2011-12-29 18:00", "2011-12-30 18:00"),
        (Recurring(time(8)), APIA, "2011-12-30 18:00", "2011-12-31 18:00"),
        # days of the week, by the day where the zone is
        (WEEKDAYS, BERLIN, "2026-11-27 08:00", "2026-11-30 08:00"),
        (WEEKDAYS, BERLIN, "2026-11-27 07:59", "2026-11-27 08:00"),
        (Recurring(time(0), (6,)), APIA, "2026-11-28 10:00", "2026-11-28 11:00"),
        # days of the month
        (Recurring(time(9), day=31), ZoneInfo("UTC"), "2026-01-31 09:00", "2026-02-28 09:00"),
        (Recurring(time(9), day=31), ZoneInfo("UTC"), "2026-02-28 09:00", "2026-03-31 09:00"),
        (Recurring(time(9), day=29), ZoneInfo("UTC"), "2028-02-01 00:00", "2028-02-29 09:00"),
        (Recurring(time(9), day=1), BERLIN, "2026-12-31 23:30", "2027-01-01 08:00"),
    ],
)
def test_what_is_due_next(rule: Rule, zone: ZoneInfo, after: str, due: str) -> None:
    assert next_due(rule, zone, utc(after)) == utc(due)


def test_what_is_due_once_is_due_before_that_moment_only() -> None:
    rule = Once(utc("2026-01-01 10:00"))
    assert next_due(rule, BERLIN, utc("2026-01-01 09:59")) == rule.at
    assert next_due(rule, BERLIN, rule.at) is None
    assert latest_due(rule, BERLIN, rule.at, utc("2027-01-01 00:00")) == rule.at


rules = st.builds(
    Recurring,
    st.times().map(lambda at: at.replace(second=0, microsecond=0)),
    st.one_of(st.just(()), st.sets(st.integers(0, 6), min_size=1).map(lambda d: tuple(sorted(d)))),
) | st.builds(
    lambda at, day: Recurring(at.replace(second=0, microsecond=0), day=day),
    st.times(),
    st.integers(1, 31),
)
moments = st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1)).map(  # noqa: DTZ001
    lambda at: at.replace(tzinfo=UTC)
)
zones = st.sampled_from([BERLIN, NEW_YORK, APIA, LORD_HOWE, ZoneInfo("UTC")])


@given(rules, zones, moments)
def test_the_next_is_later_and_nothing_lies_between(
    rule: Recurring, zone: ZoneInfo, after: datetime
) -> None:
    due = next_due(rule, zone, after)
    assert due is not None
    assert after < due <= after + timedelta(days=35)
    between = after + (due - after) / 2
    assert next_due(rule, zone, between) == due
    assert from_json(to_json(rule)) == rule


@given(rules, zones, moments, st.timedeltas(timedelta(0), timedelta(days=300)))
def test_of_what_was_missed_the_latest_is_found(
    rule: Recurring, zone: ZoneInfo, after: datetime, away: timedelta
) -> None:
    due = next_due(rule, zone, after)
    assert due is not None
    latest = latest_due(rule, zone, due, due + away)
    following = next_due(rule, zone, latest)
    assert following is not None
    assert due <= latest <= due + away < following


def test_rules_are_kept_as_json_and_said_in_words() -> None:
    once = Once(utc("2026-01-01 10:00"))
    assert from_json(to_json(once)) == once
    said = [str(each) for each in (once, DAILY, WEEKDAYS, Recurring(time(9), (0, 3)))]
    assert said == [
        "once",
        "every day at 02:30",
        "every weekday at 09:00",
        "every Monday, Thursday at 09:00",
    ]
    assert str(Recurring(time(9), day=1)) == "on day 1 of every month at 09:00"


@pytest.mark.parametrize(("weekdays", "day"), [((7,), 0), ((), 32), ((), -1)])
def test_days_that_do_not_exist_are_refused(weekdays: tuple[int, ...], day: int) -> None:
    with pytest.raises(ValueError, match="day of the month"):
        Recurring(time(9), weekdays, day)
