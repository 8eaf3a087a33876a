"""The requests that reach the sandbox: which are too many."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.sandbox.rate_limits.limits import Bucket, Limits, Rate
from bot.sandbox.timing.clock import Clock

INVALID = {401, 403, 429}
INVALID_WINDOW = 600.0  # seconds, where no limit says otherwise


class Scope(StrEnum):
    """Whose limit it is: the bot's on a route, the bot's in all, or the resource's."""

    USER = "user"
    GLOBAL = "global"
    SHARED = "shared"


@dataclass(frozen=True)
class Asked:
    """A request as the limits see it.

    Attributes:
        owner: Whose request it is.
        route: Method and pattern, the same for every channel.
        resource: The channel, guild or webhook that it is about.
        limit: The name of the rate that it falls under; None for what no rate holds back.
    """

    owner: str
    route: str
    resource: str
    limit: str | None


@dataclass(frozen=True)
class TooMany:
    """A request that has to wait."""

    scope: Scope
    retry_after: float


class Traffic:
    """Counts requests and gateway sessions in the world's time.

    Args:
        clock: Tells that time.
        limits: Returns the limits that hold now.
    """

    def __init__(self, clock: Clock, limits: Callable[[], Limits]) -> None:
        self._clock, self._in_force = clock, limits
        self._buckets: dict[Hashable, Bucket] = {}
        self._invalid: list[datetime] = []
        self._blocked_until: datetime | None = None

    @property
    def _limits(self) -> Limits:
        return self._in_force()

    @property
    def _now(self) -> datetime:
        return self._clock.now()

    @property
    def invalid_requests(self) -> int:
        """How many requests of the window, ten minutes, were answered 401, 403 or 429."""
        rate = self._limits.invalid
        window = INVALID_WINDOW if rate is None else rate.seconds
        since = self._now - timedelta(seconds=window)
        self._invalid = [each for each in self._invalid if each > since]
        return len(self._invalid)

    def block(self, seconds: float) -> None:
        """Let nothing through for a while, as Cloudflare in front of Discord does."""
        self._blocked_until = self._now + timedelta(seconds=seconds)

    @property
    def blocked_for(self) -> float:
        """The seconds until requests are let through again; 0 when they are."""
        if self._blocked_until is None:
            return 0.0
        return max(0.0, (self._blocked_until - self._now).total_seconds())

    def count_invalid(self) -> None:
        """Count an answer that Discord holds against the address, and block it at the limit."""
        self._invalid.append(self._now)
        count, rate = self.invalid_requests, self._limits.invalid
        if rate is not None and count >= rate.count:
            self.block((self._invalid[0] - self._now).total_seconds() + rate.seconds)

    def admit(self, asked: Asked) -> TooMany | None:
        """Count a request, or say why and how long it has to wait."""
        if asked.limit is None:
            return None
        if wait := self.take(("overall", asked.owner), self._limits.overall):
            return TooMany(Scope.GLOBAL, wait)
        bucket = self.bucket(asked)
        if bucket is not None and not bucket.take(self._now):
            return TooMany(Scope.USER, bucket.reset_after(self._now))
        return None

    def bucket(self, asked: Asked) -> Bucket | None:
        """Return what a request is counted in; None when its rate is not kept."""
        rate = getattr(self._limits, asked.limit) if asked.limit else None
        return rate and self._bucket((asked.owner, asked.route, asked.resource), rate)

    def take(self, key: Hashable, rate: Rate | None) -> float:
        """Count one and return 0, or the seconds until there is room; no rate always has."""
        if rate is None:
            return 0.0
        bucket = self._bucket(key, rate)
        return 0.0 if bucket.take(self._now) else bucket.reset_after(self._now)

    def left(self, key: Hashable, rate: Rate) -> tuple[int, float]:
        """Return how many there is room for, and the seconds until the window ends."""
        bucket = self._bucket(key, rate)
        return bucket.left(self._now), bucket.reset_after(self._now)

    def _bucket(self, key: Hashable, rate: Rate) -> Bucket:
        bucket = self._buckets.get(key)
        if bucket is None or bucket.rate != rate:  # other limits begin anew
            bucket = self._buckets[key] = Bucket(rate)
        return bucket
