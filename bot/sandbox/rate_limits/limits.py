"""How often a bot may do what.

Discord's reference, "Rate Limits", names the limit over all requests, that on invalid ones and
those of the gateway; how often a channel can be written to is not documented, and measured by
the community; what holds for other routes is made up. A client should take none of them for
granted: the headers tell.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime, timedelta

DAY = 24 * 60 * 60.0


@dataclass(frozen=True)
class Rate:
    """So many in so many seconds."""

    count: int
    seconds: float


SESSION_STARTS = Rate(1000, DAY)


@dataclass(frozen=True)
class Limits:
    """The rates that are kept; None is as often as one likes.

    Attributes:
        sends: Messages that a bot posts into one channel.
        edits: Edits of its messages in one channel.
        writes: Both of them together, in one bucket in the place of two.
        others: Requests of any other route, for each channel, guild or webhook.
        overall: Requests of a bot in all, but for first responses to interactions.
        invalid: Answers of 401, 403 and 429 to one address, which is blocked for the rest of
            the window afterwards.
        identifies: Gateway sessions begun at once (`max_concurrency`): of as many shards as their
            ids leave different remainders.
        starts: Gateway sessions begun in a day.
        frames: What one connection sends to the gateway.
    """

    sends: Rate | None = Rate(5, 5.0)
    edits: Rate | None = Rate(5, 5.0)
    writes: Rate | None = None
    others: Rate | None = Rate(50, 1.0)
    overall: Rate | None = Rate(50, 1.0)
    invalid: Rate | None = Rate(10_000, 600.0)
    identifies: Rate | None = Rate(1, 5.0)
    starts: Rate | None = SESSION_STARTS
    frames: Rate | None = Rate(120, 60.0)

    def scaled(self, factor: float) -> Limits:
        """Return the same counts in windows that are so many times as long."""
        rates = {each.name: getattr(self, each.name) for each in fields(self)}
        return Limits(
            **{
                name: None if rate is None else Rate(rate.count, rate.seconds * factor)
                for name, rate in rates.items()
            }
        )


REAL_LIMITS = Limits()
NO_LIMITS = Limits(**dict.fromkeys(each.name for each in fields(Limits)))


class Bucket:
    """A rate in use: a window begins with the first request and ends for all at once."""

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        self._used = 0
        self._ends: datetime | None = None

    def left(self, now: datetime) -> int:
        """Return how many more the window has room for."""
        if self._ends is None or now >= self._ends:
            self._used, self._ends = 0, None
        return max(0, self.rate.count - self._used)

    def take(self, now: datetime) -> bool:
        """Use one up if there is one."""
        if not self.left(now):
            return False
        self._used += 1
        self._ends = self._ends or now + timedelta(seconds=self.rate.seconds)
        return True

    def reset_after(self, now: datetime) -> float:
        """Return the seconds until the window ends."""
        return 0.0 if self._ends is None else max(0.0, (self._ends - now).total_seconds())
