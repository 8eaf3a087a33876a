"""Letting the database's files keep nothing of what is forgotten: at once, or soon."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from bot.errors import StorageError
from bot.events import new_id, utc_now
from bot.sessions import SessionStore
from bot.sessions.stores.marks import MarkStore

logger = logging.getLogger(__name__)

PURGE_DUE = "purge-due"
LONG = 1.0  # seconds of a purge from which on it is not made again for a while
RESTS = 20  # times as long, at the least


class Purges:
    """Makes purges, and notes on disk when the next one is due: a process may end before it is.

    Attributes:
        now: Tells the time, by which purges are due.
    """

    def __init__(self, store: SessionStore, marks: MarkStore) -> None:
        self._store = store
        self._marks = marks
        self._purging = asyncio.Lock()
        self._rests_until = 0.0
        self.now: Callable[[], datetime] = utc_now

    async def owe(self) -> str:
        """Let one be due from now on, before something is forgotten; return its mark."""
        due = _due(self.now())
        await self._marks.set(PURGE_DUE, due)
        return due

    async def purge(self) -> bool:
        """Let the database's files keep nothing of what is forgotten; return whether they do.

        If that cannot be it is done the next time somebody looks.

        After one that took long it is left for later: all writes wait for it, and whoever wrote and
        forgot again and again would stop everybody.
        """
        async with self._purging:
            with _or_later():
                # One that was at work while this was being forgotten may have taken the mark away.
                due = await self.owe()
                if time.monotonic() >= self._rests_until:
                    await self._purge(due)
                    return True
        return False

    async def _purge(self, due: str) -> None:
        began = time.monotonic()
        await self._store.purge()
        ended = time.monotonic()
        if ended - began >= LONG:
            self._rests_until = ended + RESTS * (ended - began)
        await self._marks.replace(PURGE_DUE, due, "")  # unless another is due since

    async def purge_if_due(self) -> None:
        """Do it where it could not be done before, or a process ended before it was."""
        due = await self._marks.get(PURGE_DUE)
        at = _time_of(due)
        if due and at and at <= self.now():
            async with self._purging:
                with _or_later():
                    await self._purge(due)

    async def owe_within_a_day(self) -> None:
        """Let it be done with what else is deleted until then: all writes wait for it.

        It is told before something is deleted. A purge that is at work then does not count.
        """
        latest, noted = self.now() + timedelta(days=1), False
        while not noted:
            due = await self._marks.get(PURGE_DUE)
            at = min(latest, _time_of(due) or latest)
            noted = await self._marks.replace(PURGE_DUE, due, _due(at))


@contextmanager
def _or_later() -> Iterator[None]:
    """Leave what cannot be purged now to whoever looks next."""
    try:
        yield
    except StorageError as exc:
        logger.warning("what was forgotten is purged later: %s", exc)


def _due(at: datetime) -> str:
    """Return a mark that no other is equal to."""
    return f"{at.isoformat()} {new_id('purge')}"


def _time_of(mark: str | None) -> datetime | None:
    """Return when a purge is due, `None` for never."""
    at, _, _ = (mark or "").partition(" ")
    return datetime.fromisoformat(at) if at else None
