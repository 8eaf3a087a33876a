"""Decoded events that were read or written before: frozen, so that they can be kept and shared."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from bot.events import RecordedEvent

Events = tuple[RecordedEvent, ...]


class KeptEvents:
    """A run of events without gaps for each session, the least recently used forgotten first.

    Sessions are named with the time of their making, lest a new one of the same id is taken for
    the old. What is kept never becomes wrong, only short: a log is never changed.
    """

    def __init__(self, limit: int = 50_000) -> None:
        self._limit = limit
        self._count = 0
        self._runs: OrderedDict[str, tuple[str, Events]] = OrderedDict()

    def of(self, session_id: str) -> tuple[str, Events]:
        """Return when the session was made, and the events kept of it."""
        return self._runs.get(session_id, ("", ()))

    def keep(self, session_id: str, made: str, events: Events) -> None:
        """Keep a run of events instead of what is kept, unless that reaches as far."""
        old_made, old = self.of(session_id)
        if old and old_made == made and old[0].seq == events[0].seq and len(old) >= len(events):
            self._runs.move_to_end(session_id)
            return
        self.drop(session_id)
        self._runs[session_id] = (made, events)
        self._count += len(events)
        while self._count > self._limit:
            self.drop(next(iter(self._runs)))

    def extend(self, session_id: str, made: str, events: Sequence[RecordedEvent]) -> None:
        """Add events that were written, if they follow what is kept."""
        old_made, old = self.of(session_id)
        if events and old and old_made == made and old[-1].seq + 1 == events[0].seq:
            self.keep(session_id, made, (*old, *events))

    def drop(self, session_id: str) -> None:
        """Forget a session's events."""
        _, events = self._runs.pop(session_id, ("", ()))
        self._count -= len(events)
