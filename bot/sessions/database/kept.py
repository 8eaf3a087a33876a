"""Decoded events that were read or written before: frozen, so that they can be kept and shared."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from bot.events import RecordedEvent

Events = tuple[RecordedEvent, ...]


class KeptEvents:
    """A run of events without gaps for each session, the least recently used forgotten first.

    Sessions are named with the time of their making, lest a new one of the same id is taken for
    the old, and with how often something was erased of them. So what is kept never becomes wrong,
    only short: between two erasures a log is never changed.
    """

    def __init__(self, limit: int = 50_000) -> None:
        self._limit = limit
        self._count = 0
        self._runs: OrderedDict[str, tuple[str, list[RecordedEvent]]] = OrderedDict()

    def of(self, session_id: str) -> tuple[str, Events]:
        """Return when the session was made, and a copy of what is kept of it."""
        made, events = self._runs.get(session_id, ("", ()))
        return made, tuple(events)

    def keep(self, session_id: str, made: str, events: Events) -> None:
        """Keep a run of events instead of what is kept, unless that reaches as far."""
        old_made, old = self._runs.get(session_id, ("", ()))
        if old and old_made == made and old[0].seq == events[0].seq and len(old) >= len(events):
            self._runs.move_to_end(session_id)
            return
        self.drop(session_id)
        self._runs[session_id] = (made, list(events))
        self._count += len(events)
        self._forget_the_oldest()

    def extend(
        self, session_id: str, made: str, events: Sequence[RecordedEvent], window_from: int = 0
    ) -> None:
        """Add events that were written, if they follow what is kept; drop what nobody sees now."""
        old_made, old = self._runs.get(session_id, ("", []))
        if events and old and old_made == made and old[-1].seq + 1 == events[0].seq:
            old.extend(events)
            before = max(0, window_from - old[0].seq)
            del old[:before]
            self._count += len(events) - before
            self._runs.move_to_end(session_id)
            self._forget_the_oldest()

    def _forget_the_oldest(self) -> None:
        while self._count > self._limit:
            self.drop(next(iter(self._runs)))

    def drop(self, session_id: str) -> None:
        """Forget a session's events."""
        _, events = self._runs.pop(session_id, ("", ()))
        self._count -= len(events)
