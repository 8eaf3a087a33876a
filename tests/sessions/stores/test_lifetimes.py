from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.sessions.stores.lifetimes import Lifetime, is_over

NOW = datetime(2030, 1, 1, tzinfo=UTC)
spans = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=1000))


@given(age=spans, idle=spans)
def test_without_limits_nothing_is_over(age: timedelta, idle: timedelta) -> None:
    assert not is_over(Lifetime(), created=NOW - age, updated=NOW - idle, now=NOW)
    assert not Lifetime().any


@given(limit=spans, age=spans, idle=spans)
def test_each_limit_counts_alone(limit: timedelta, age: timedelta, idle: timedelta) -> None:
    created, updated = NOW - age, NOW - idle
    by_age, by_idleness = Lifetime(age=limit), Lifetime(idle=limit)
    assert is_over(by_age, created=created, updated=updated, now=NOW) is (age >= limit)
    assert is_over(by_idleness, created=created, updated=updated, now=NOW) is (idle >= limit)
    both = Lifetime(age=limit, idle=limit)
    assert is_over(both, created=created, updated=updated, now=NOW) is (max(age, idle) >= limit)
    assert both.any
