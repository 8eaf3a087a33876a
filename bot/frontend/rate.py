"""How often one person is answered."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple

MINUTE = 60.0
TOO_FAST = "You are writing faster than I may answer. Please wait a minute."


class Verdict(Enum):
    """Whether a message is answered."""

    ANSWER = auto()
    TELL = auto()  # not answered, and the person is to be told
    SILENT = auto()  # not answered, and told before


class _Counted(NamedTuple):
    at: float
    written: float
    message: int | None


class Rate:
    """Allows so many turns a minute to each person; tells them once a minute when it is over."""

    def __init__(self, turns: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._turns = turns
        self._clock = clock
        self._answered: dict[int, deque[_Counted]] = {}
        self._told: dict[int, float] = {}

    def ask(
        self, user: int, written: float | None = None, *, message: int | None = None
    ) -> Verdict:
        """Count a message and say what to do with it.

        Args:
            user: Who wrote it.
            written: When, in seconds: what is heard late counts for the minute it was written in.
            message: Its id: what is tried again, since it could not be recorded, counts once.
        """
        now = self._clock()
        self._forget(now)
        written = now if written is None else written
        answered = self._answered.setdefault(user, deque())
        if message is not None and any(each.message == message for each in answered):
            return Verdict.ANSWER
        if sum(abs(written - each.written) < MINUTE for each in answered) < self._turns:
            answered.append(_Counted(now, written, message))
            return Verdict.ANSWER
        if user in self._told:
            return Verdict.SILENT
        self._told[user] = now
        return Verdict.TELL

    def _forget(self, now: float) -> None:
        for user, times in list(self._answered.items()):
            while times and now - times[0].at >= MINUTE:
                times.popleft()
            if not times:
                del self._answered[user]
        for user in [user for user, at in self._told.items() if now - at >= MINUTE]:
            del self._told[user]
