"""What is counted and timed, and the metrics of a bot that nobody watches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.events import RecordedEvent


class Metrics:
    """Takes note of nothing; whoever keeps numbers overrides what they want to hear.

    `loop_blocked` comes from a thread of its own; all others from the event loop.
    """

    def recorded(self, events: Sequence[RecordedEvent]) -> None:
        """Events are on disk: how turns ended, and what their model calls took."""

    def first_text(self, seconds: float) -> None:
        """An answer has begun, so long after its question was recorded."""

    def edited(self, behind: float) -> None:
        """A message shows more of an answer; the oldest of it is so many seconds old."""

    def rate_limited(self, scope: str) -> None:
        """Discord answered with 429: `user`, `shared` or `global`."""

    def loop_lag(self, seconds: float) -> None:
        """The event loop turned so much later than it was to."""

    def database(self, kind: str, seconds: float) -> None:
        """A `read` or `write` of the database has ended, after so long."""


class Open(Protocol):
    """Turns that have no end, and approvals that nobody has decided."""

    @property
    def turns(self) -> int:
        """How many turns."""
        ...

    @property
    def approvals(self) -> int:
        """How many approvals."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What is looked at when somebody asks.

    Attributes:
        connected: Whether every shard has its connection to Discord.
        write: Writes to the database, or raises.
        count_open: Counts what is open.
    """

    connected: Callable[[], bool]
    write: Callable[[], Awaitable[object]]
    count_open: Callable[[], Awaitable[Open]]
