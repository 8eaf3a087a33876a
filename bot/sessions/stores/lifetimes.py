"""For how long conversations are kept: a rule that is the same wherever its numbers come from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """How old a conversation may get, `None` for as old as it will.

    Attributes:
        age: Since it began.
        idle: Since something was last recorded in it.
    """

    age: timedelta | None = None
    idle: timedelta | None = None

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        return self.age is not None or self.idle is not None


def is_over(limits: Lifetime, *, created: datetime, updated: datetime, now: datetime) -> bool:
    """Return whether a conversation's time is over."""
    too_old = limits.age is not None and now - created >= limits.age
    return too_old or (limits.idle is not None and now - updated >= limits.idle)
