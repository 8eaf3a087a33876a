"""When the next edit of a preview may go, from what Discord tells of its rate limits.

Discord counts by bucket and channel, and every answer has in its headers how much is left of the
bucket (reference, "Rate Limits"). The client's requests are listened to, so that whatever writes
in a channel is counted. Previews spread what is left evenly over the rest of the window, all
previews of a channel in turn, and leave a part of it: what must go out (the end of an answer, a
card, a notice) takes no turn, and finds room.

Previews of all channels together keep below what Discord allows a bot in all.

A thread is a channel of its own here. Whether sending and editing share a bucket is what the
headers say; until they do, they are taken to.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from types import SimpleNamespace

import aiohttp

from bot.frontend.locks import Locks
from bot.monitoring import Metrics

# Before Discord has told anything: 5 in 5 seconds, which is empirical and not documented.
DEFAULT_LIMIT, DEFAULT_WINDOW = 5, 5.0
KEPT = 5  # one in so many of a bucket is never used for previews
MARGIN = 0.0625  # seconds after the end of a window: what discord.py held back goes first
_PATH = re.compile(r".*/channels/(\d+)/messages(/\d+)?")
LONG = 60.0  # seconds: a window is shorter
EVERYWHERE = 0  # in the place of a channel id
# Of the 50 requests a second that a bot may make in all (reference, "Rate Limits").
PREVIEWS_A_SECOND = 40.0


class Kind(StrEnum):
    """What a request does; each may have a bucket of its own."""

    SEND = "POST"
    EDIT = "PATCH"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What is left of a bucket in a channel, until its window ends and all is there again."""

    limit: int
    remaining: int
    resets_at: float

    def next_at(self, last: float | None) -> float | None:
        """Return when the next preview may go; `None` is at once.

        Args:
            last: When the one before it went, if that was not long ago.
        """
        usable = self.remaining - self.limit // KEPT
        if usable <= 0:
            return self.resets_at + MARGIN
        return None if last is None else last + (self.resets_at - last) / (usable + 1)


class Pacing:
    """Listens to the answers to all requests, and gives the previews of a channel their turns."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, metrics: Metrics | None = None
    ) -> None:
        self._clock = clock
        self._metrics = metrics or Metrics()
        self._buckets: dict[Kind, str] = {}
        self._limits: dict[str, int] = {}
        self._budgets: dict[tuple[str, int], Budget] = {}
        self._last: dict[tuple[Kind, int], float] = {}
        self._blocked: dict[int, float] = {}
        self._turns = Locks[int]()
        self._line, self._next = asyncio.Lock(), 0.0
        self._first_line, self._next_first = asyncio.Lock(), 0.0

    async def heard(
        self,
        session: aiohttp.ClientSession,
        context: SimpleNamespace,
        params: aiohttp.TraceRequestEndParams,
    ) -> None:
        """Take note of an answer; to be called at the end of every request of the client."""
        response = params.response
        self.learn(params.method, params.url.path, response.status, response.headers)

    def learn(self, method: str, path: str, status: int, headers: Mapping[str, str]) -> None:
        """Take in what the answer to a request tells."""
        self._forget()
        found = _PATH.fullmatch(path)
        if found is not None and method in set(Kind) and "X-RateLimit-Remaining" in headers:
            self._count(Kind(method), int(found[1]), headers)
        if status == 429:
            self._metrics.rate_limited(headers.get("X-RateLimit-Scope", "unknown"))
            until = self._clock() + float(headers.get("Retry-After", DEFAULT_WINDOW))
            if "X-RateLimit-Global" in headers:
                self._blocked[EVERYWHERE] = until
            elif found is not None:
                self._blocked[int(found[1])] = until

    def _count(self, kind: Kind, channel_id: int, headers: Mapping[str, str]) -> None:
        bucket = self._buckets[kind] = headers.get("X-RateLimit-Bucket", kind)
        limit = self._limits[bucket] = int(headers.get("X-RateLimit-Limit", DEFAULT_LIMIT))
        self._budgets[bucket, channel_id] = Budget(
            limit=limit,
            remaining=int(headers["X-RateLimit-Remaining"]),
            resets_at=self._clock() + float(headers.get("X-RateLimit-Reset-After", DEFAULT_WINDOW)),
        )

    @asynccontextmanager
    async def turn(self, channel_id: int, kind: Kind) -> AsyncIterator[None]:
        """Wait until a preview may be written; the block writes it, with what is latest then."""
        async with self._turns[channel_id]:
            # A time is waited for, not an event: others may write meanwhile, and change it.
            while (wait := self.wait(channel_id, kind)) > 0:  # noqa: ASYNC110
                await asyncio.sleep(wait)
            await self._stand_in_line()
            self._take(channel_id, kind)
            yield

    async def jump_the_line(self) -> None:
        """Wait only for others that are the first text of an answer, as this is."""
        async with self._first_line:
            if (wait := self._next_first - self._clock()) > 0:
                await asyncio.sleep(wait)
            self._next_first = self._clock() + 1 / PREVIEWS_A_SECOND
            self._count_one()

    def _count_one(self) -> None:
        self._next = max(self._next, self._clock()) + 1 / PREVIEWS_A_SECOND

    async def _stand_in_line(self) -> None:
        """Wait for the previews of all channels that came before."""
        async with self._line:
            if (wait := self.line) > 0:
                await asyncio.sleep(wait)
            self._count_one()

    @property
    def line(self) -> float:
        """The seconds until the next preview may be written, in whatever channel."""
        return self._next - self._clock()

    def wait(self, channel_id: int, kind: Kind) -> float:
        """Return the seconds until the next preview may be written in a channel."""
        key = self._bucket(kind), channel_id
        budget, now = self._budgets.get(key), self._clock()
        free = [self._blocked.get(EVERYWHERE), self._blocked.get(channel_id)]
        if budget is not None and now < budget.resets_at + MARGIN:
            free.append(budget.next_at(self._last.get((kind, channel_id))))
        return max([0.0, *(each - now for each in free if each is not None)])

    def _take(self, channel_id: int, kind: Kind) -> None:
        """Count a request that goes now; its answer will tell how much is left in truth."""
        key, now = (self._bucket(kind), channel_id), self._clock()
        limit = self._limits.get(key[0], DEFAULT_LIMIT)
        budget = self._budgets.get(key)
        if budget is None or budget.resets_at <= now:
            budget = Budget(limit=limit, remaining=limit, resets_at=now + DEFAULT_WINDOW)
        self._last[kind, channel_id] = now
        self._budgets[key] = Budget(
            limit=limit, remaining=budget.remaining - 1, resets_at=budget.resets_at
        )

    def _bucket(self, kind: Kind) -> str:
        return self._buckets.get(kind) or next(iter(self._buckets.values()), "")

    def _forget(self) -> None:
        """Forget the windows that have ended: there all is free."""
        now = self._clock()
        for key in [key for key, each in self._budgets.items() if each.resets_at + MARGIN < now]:
            del self._budgets[key]
        for at in [each for each, last in self._last.items() if last + LONG < now]:
            del self._last[at]
        for channel_id in [each for each, until in self._blocked.items() if until < now]:
            del self._blocked[channel_id]
