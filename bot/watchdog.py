"""Noticing that something blocks the event loop, and telling where.

A thread asks the loop again and again whether it still turns. While no answer comes the thread can
see where the loop's thread is; the loop itself could tell only afterwards. What holds Python's lock
in C code, a long regular expression for example, holds up the thread too: then it is told late, and
where may be missing.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

logger = logging.getLogger(__name__)

LIMIT = 0.1
"""Seconds for which the loop may be blocked without a word."""
INTERVAL = 0.025
"""Seconds between two questions; so much too little may be told of how long it was blocked."""
LONG = 5.0
"""Seconds after which it is told while the loop is still blocked."""
DEPTH = 12
"""How many of the innermost calls are told."""
UNSEEN = "by what was over before it could be seen"


Noted = Callable[[float], None]


def _unnoted(seconds: float) -> None:
    """Nobody keeps numbers."""


@contextmanager
def watched(noted: Noted = _unnoted) -> Iterator[None]:
    """Log whenever the running loop is blocked for longer than `LIMIT`, while this block lasts.

    `noted` is told, in a thread, by how much the loop was late, each time it is asked.
    """
    watchdog = Watchdog(asyncio.get_running_loop(), threading.get_ident(), noted)
    thread = threading.Thread(target=watchdog.watch, name="watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        watchdog.stop()


class Watchdog:
    """Watches one event loop from a thread of its own."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, thread: int, noted: Noted = _unnoted
    ) -> None:
        self._loop = loop
        self._thread = thread
        self._noted = noted
        self._answered = threading.Event()
        self._over = threading.Event()

    def stop(self) -> None:
        """Stop watching, soon."""
        self._over.set()

    def watch(self) -> None:
        """Ask the loop again and again; tell when no answer comes in time."""
        due = time.monotonic() + INTERVAL
        while not self._over.wait(max(0.0, due - time.monotonic())):
            if not self._ask():
                return
            where = UNSEEN if self._answered.wait(LIMIT) else self._wait(due)
            late = time.monotonic() - due
            self._noted(late)
            if late > LIMIT and not self._over.is_set():
                logger.warning("the event loop was blocked for %.0f ms %s", late * 1000, where)
            due = time.monotonic() + INTERVAL

    def _ask(self) -> bool:
        """Ask whether the loop turns; return whether it can still be asked."""
        self._answered.clear()
        try:
            self._loop.call_soon_threadsafe(self._answered.set)
        except RuntimeError:  # it has been closed
            return False
        return True

    def _wait(self, due: float) -> str:
        """Wait until the loop turns again; return where it was."""
        where, told = self._stack(), False
        while not self._answered.wait(LIMIT) and not self._over.is_set():
            if not told and time.monotonic() - due > LONG:
                told = True
                logger.warning("the event loop has been blocked for %.0f s %s", LONG, where)
        return where

    def _stack(self) -> str:
        """Return where the loop's thread is, the innermost call last."""
        frame = sys._current_frames()[self._thread]
        if frame.f_code.co_name == "select":
            return "while another thread, or the machine, was busy"
        calls = traceback.extract_stack(frame)[-DEPTH:]
        return "by\n" + "".join(traceback.format_list(calls)).rstrip()
