"""Going on, once the log can be written again, with what a failing disk has cut off."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from bot.errors import StorageError
from bot.frontend.tasks import Tasks
from bot.sessions.stores.marks import MarkStore

logger = logging.getLogger(__name__)

RETRY_AFTER = (1.0, 5.0, 25.0, 60.0)  # seconds
QUIET = 300.0  # seconds without trouble after which it is a new one
ROOM = 100_000  # bytes that have to be writable before anybody is asked again


class Comeback:
    """Waits, while the log cannot be written, until it can; then what is open or due goes on.

    `over` hears of it first.
    """

    def __init__(
        self,
        *,
        marks: MarkStore,
        over: Callable[[], None],
        recover: Callable[[], Coroutine[Any, Any, None]],
        remind: Callable[[], None],
        waiting: Tasks,
        work: Tasks,
    ) -> None:
        self._marks = marks
        self._over = over
        self._recover = recover
        self._remind = remind
        self._waiting = waiting
        self._work = work
        self._task: asyncio.Task[None] | None = None
        self._attempts = 0
        self._last = 0.0

    def soon(self) -> None:
        """Note that the log could not be read or written."""
        if self._task is None or self._task.done():
            self._task = self._waiting.task(self._wait(), name="waiting for the disk")

    async def _wait(self) -> None:
        """Try again, ever less often; then go on."""
        now = asyncio.get_running_loop().time()
        if now - self._last > QUIET:
            self._attempts = 0
        while True:
            await asyncio.sleep(RETRY_AFTER[min(self._attempts, len(RETRY_AFTER) - 1)])
            self._attempts += 1
            if await self._is_writable():
                break
        self._last = asyncio.get_running_loop().time()
        logger.info("the database can be written again; what is open goes on")
        self._over()
        self._work.start(self._recover(), name="recovery")
        self._remind()

    async def _is_writable(self) -> bool:
        try:
            await self._marks.set("room", "x" * ROOM)
            await self._marks.set("room", "")
        except StorageError as exc:
            logger.warning("the database cannot be written: %s", exc)
            return False
        return True
