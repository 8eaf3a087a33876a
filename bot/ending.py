"""Ending the process: in order while there is time, and hard after it, whatever still hangs.

Ending hard loses nothing, since the log is on disk. It is how a process ends in which a tool does
not return, the event loop is blocked, or whoever reads standard error has stopped.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from bot.errors import ConfigError

logger = logging.getLogger(__name__)

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LEFTOVERS = 5.0
"""Seconds for what is left, threads for example, once everything has been closed."""


class Ending:
    """When and how this process ends.

    Attributes:
        asked: Set by SIGTERM or SIGINT.
    """

    def __init__(self, seconds: float) -> None:
        self.asked = asyncio.Event()
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._timer: threading.Timer | None = None
        self._signalled = False

    def on_signal(self, number: int, _: FrameType | None) -> None:
        """Begin to end; with a second signal end at once."""
        if self._signalled:
            os._exit(128 + number)
        self._signalled = True
        self.within(self._seconds, status=1)
        # Nothing is logged from here: the handler may have interrupted the writing of a line.
        self._loop.call_soon_threadsafe(self._ask)

    def _ask(self) -> None:
        logger.info("stopping; a second signal ends at once")
        self.asked.set()

    def failed(self, error: BaseException) -> None:
        """Begin to end because of an error; it is told even if closing hangs."""
        self.within(self._seconds, status=status_of(error), why=error)

    def within(self, seconds: float, *, status: int, why: BaseException | None = None) -> None:
        """End the process hard if it has not ended in so many seconds; the latest call counts."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(seconds, _give_up, (status, why))
        self._timer.daemon = True
        self._timer.start()

    async def unless_asked(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Do some work; a signal cancels it, and nothing is returned."""
        task, asked = asyncio.create_task(work), asyncio.create_task(self.asked.wait())
        try:
            await asyncio.wait({task, asked}, return_when=asyncio.FIRST_COMPLETED)
            return await task if task.done() else None
        finally:
            for each in (task, asked):
                each.cancel()
            await asyncio.wait({task, asked})


@contextmanager
def ending(seconds: float) -> Iterator[Ending]:
    """Be ended by signals, in a process that ends with this block.

    From a signal on the process ends within so many seconds, whatever still hangs; at once with a
    second one. Signals are heard also while something blocks the event loop.
    """
    end = Ending(seconds)
    before = {number: signal.signal(number, end.on_signal) for number in SIGNALS}
    try:
        yield end
    except BaseException as exc:
        end.within(LEFTOVERS, status=status_of(exc), why=exc)
        raise
    else:
        end.within(LEFTOVERS, status=0)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def status_of(error: BaseException) -> int:
    """Return the exit status of a process that an error ends: 2 for wrong settings, else 1."""
    return 2 if isinstance(error, ConfigError) else 1


def _give_up(status: int, why: BaseException | None) -> None:
    text = "it did not end in time, so it is ended; the next start goes on from the log"
    told = threading.Thread(
        target=logger.error, args=(f"{why}: {text}" if why else text,), daemon=True
    )
    told.start()
    told.join(1.0)  # not longer: whoever hangs may hang in the middle of logging
    os._exit(status)
