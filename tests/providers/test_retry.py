from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.providers import RetryPolicy
from bot.providers.retry import retry_after

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:09 GMT"}, 9.0),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:09 -0000"}, 9.0),
        ({"retry-after": "Wed, 31 Dec 2025 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_the_asked_wait_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def test_waits_grow_within_their_bounds_and_end() -> None:
    policy = RetryPolicy(max_attempts=5, first_delay=1.0, max_delay=3.0)
    for attempt, bound in enumerate([1.0, 2.0, 3.0, 3.0], start=1):
        delays = [policy.delay(attempt) for _ in range(200)]
        assert all(delay is not None and 0 <= delay <= bound for delay in delays)
        assert max(delay for delay in delays if delay is not None) > bound * 0.8
    assert policy.delay(5) is None


def test_the_asked_wait_comes_first_and_is_capped() -> None:
    policy = RetryPolicy(first_delay=0.5, max_retry_after=60.0)
    delay = policy.delay(1, 30.0)
    assert delay is not None
    assert 30.0 <= delay <= 30.5
    assert policy.delay(1, 61.0) is None
    assert policy.delay(4, 1.0) is None
