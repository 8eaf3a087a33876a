from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sessions.stores.periods import Period, Span

EPOCH = datetime(1970, 1, 2, tzinfo=UTC)
MOMENTS = st.timedeltas(timedelta(), timedelta(days=365 * 8000)).map(EPOCH.__add__)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("span", "moment", "first", "renews"),
    [
        (Span.DAY, "2026-02-28T23:59:59+00:00", "2026-02-28", "2026-03-01"),
        (Span.DAY, "2028-02-28T23:59:59+00:00", "2028-02-28", "2028-02-29"),
        (Span.DAY, "2028-02-29T00:00:00+00:00", "2028-02-29", "2028-03-01"),
        (Span.DAY, "2026-12-31T12:00:00+00:00", "2026-12-31", "2027-01-01"),
        (Span.MONTH, "2026-01-31T12:00:00+00:00", "2026-01-01", "2026-02-01"),
        (Span.MONTH, "2028-02-29T12:00:00+00:00", "2028-02-01", "2028-03-01"),
        (Span.MONTH, "2026-12-01T00:00:00+00:00", "2026-12-01", "2027-01-01"),
        (Span.MONTH, "2026-04-30T23:59:59.999999+00:00", "2026-04-01", "2026-05-01"),
    ],
)
def test_days_and_months_end_where_the_calendar_says(
    span: Span, moment: str, first: str, renews: str
) -> None:
    period = Period.around(span, at(moment))
    assert period.first.isoformat() == first
    assert period.renews == at(f"{renews}T00:00:00+00:00")


def test_a_moment_counts_by_utc_wherever_its_clock_hangs() -> None:
    tokyo = datetime(2026, 3, 1, 8, 59, tzinfo=timezone(timedelta(hours=9)))
    assert Period.around(Span.DAY, tokyo).first.isoformat() == "2026-02-28"
    assert Period.around(Span.MONTH, tokyo).first.isoformat() == "2026-02-01"


@given(moment=MOMENTS, span=st.sampled_from(Span))
def test_every_moment_lies_in_its_period_and_the_next_begins_where_it_ends(
    moment: datetime, span: Span
) -> None:
    period = Period.around(span, moment)
    assert period.first <= moment.date() < period.over
    assert moment < period.renews
    assert Period.around(span, period.renews).first == period.over
    assert Period.around(span, period.renews - timedelta(microseconds=1)) == period
