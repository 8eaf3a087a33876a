"""What running tools tell of their progress: in order, from any thread, as much as can be seen."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from bot.events import ToolProgressEvent

KEPT = 50
"""Of more that is told at once only the last is given on: it is shown in one line."""
MAX_LENGTH = 300


class Progress:
    """A queue between tools and the run that gives on what they tell; made on the event loop."""

    def __init__(self) -> None:
        self.told = asyncio.Event()
        self._events: deque[ToolProgressEvent] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._loop = asyncio.get_running_loop()

    def tell(self, turn_id: str, call_id: str, tool: str, text: str) -> None:
        """Note what a tool tells; nothing where it is empty, or nobody listens any more."""
        line = " ".join(str(text)[: 2 * MAX_LENGTH].split())[:MAX_LENGTH]
        if not line:
            return
        event = ToolProgressEvent(turn_id=turn_id, call_id=call_id, tool=tool, text=line)
        with self._lock:
            is_first = not self._events
            self._events.append(event)
        if is_first:  # or the event loop has been woken before
            with suppress(RuntimeError):  # it has closed meanwhile
                self._loop.call_soon_threadsafe(self.told.set)

    def taken(self) -> Sequence[ToolProgressEvent]:
        """Return what was told since the last call, oldest first."""
        self.told.clear()
        with self._lock:
            events = tuple(self._events)
            self._events.clear()
        return events
