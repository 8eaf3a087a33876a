"""Tasks with an owner: whoever starts work in the background also waits for its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from bot.errors import StorageError

T = TypeVar("T")

logger = logging.getLogger(__name__)

PATIENCE = 3.0  # seconds in which work that was cancelled has to end


class Tasks:
    """Background work of one part; a failure is logged, never lost.

    Once everything was cancelled, nothing is begun any more.
    """

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False

    def start(self, work: Coroutine[Any, Any, Any], *, name: str) -> None:
        """Begin some work and keep it until it ends."""
        self._keep(asyncio.create_task(work, name=name))

    def task(self, work: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
        """Begin some work, keep it until it ends, and return its task."""
        task = asyncio.create_task(work, name=name)
        self._keep(task)
        return task

    def own(self, task: asyncio.Task[Any]) -> bool:
        """Keep a task that somebody else has begun; return whether it may go on."""
        if self._closed:
            return False
        if task not in self._running:
            self._keep(task)
        return True

    def _keep(self, task: asyncio.Task[Any]) -> None:
        self._running.add(task)
        task.add_done_callback(self._ended)
        if self._closed:
            task.cancel()

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            expected = isinstance(error, StorageError)
            logger.error(
                "%s failed: %s", task.get_name(), error, exc_info=None if expected else error
            )

    async def finish(self, seconds: float) -> bool:
        """Wait for what runs, also what it starts; return whether all of it ended in time."""
        try:
            async with asyncio.timeout(seconds):
                while self._running:
                    await asyncio.wait(self._running)
        except TimeoutError:
            return False
        return True

    async def cancel(self) -> None:
        """End everything that still runs; what does not let itself be ended is left behind."""
        self._closed = True
        stubborn: set[asyncio.Task[Any]] = set()
        while running := self._running - stubborn:
            for task in running:
                task.cancel()
            _, pending = await asyncio.wait(running, timeout=PATIENCE)
            for task in pending:
                logger.warning("%s does not end", task.get_name())
            stubborn |= pending
