"""When to ask again: bounded, and spread so that many sessions do not come back together."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Exponential waits with full jitter; what the service asks for comes first.

    Attributes:
        max_attempts: how often a request is sent at most.
        first_delay: the upper bound of the first wait, in seconds; it doubles each time.
        max_delay: the upper bound of any wait that the service did not ask for.
        max_retry_after: a service that asks to wait longer than this is not asked again.
    """

    max_attempts: int = 4
    first_delay: float = 0.5
    max_delay: float = 8.0
    max_retry_after: float = 60.0

    def delay(self, attempt: int, retry_after: float | None = None) -> float | None:
        """Return the seconds to wait after the failed `attempt` (from 1), `None` to give up."""
        if attempt >= self.max_attempts or (retry_after or 0.0) > self.max_retry_after:
            return None
        if retry_after is not None:
            return retry_after + random.uniform(0, self.first_delay)  # noqa: S311 - only spreads
        bound = min(self.max_delay, self.first_delay * 2.0 ** (attempt - 1))
        return random.uniform(0, bound)  # noqa: S311 - only spreads


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Read how many seconds a service asks to wait, from milliseconds, seconds or a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    return _until(value, now) if seconds is None else seconds


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _until(value: str | None, now: datetime | None) -> float | None:
    from email.utils import parsedate_to_datetime  # few services send a date

    try:
        date = parsedate_to_datetime(value or "")
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - (now or datetime.now(UTC))).total_seconds())
