"""A way for one task to end what another one awaits, and one to await something to its end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def was_cancelled(exc: BaseException) -> bool:
    """Whether the task that caught this was cancelled, and what it awaited did not just give up."""
    task = asyncio.current_task()
    return isinstance(exc, asyncio.CancelledError) and task is not None and task.cancelling() > 0


class Interrupted(Exception):
    """What was awaited was interrupted."""


class Interrupts:
    """Guards what a task awaits, so that `interrupt` can end it."""

    def __init__(self) -> None:
        self._task: asyncio.Task[object] | None = None
        self._interrupted = False

    def interrupt(self) -> None:
        """End what is being awaited, and whatever is awaited next; once is enough."""
        again, self._interrupted = self._interrupted, True
        if self._task is not None and not again:
            self._task.cancel()

    async def guard(self, start: Callable[[], Awaitable[T]]) -> T:
        """Await what `start` begins.

        Raises:
            Interrupted: if `interrupt` was called; cancellation from elsewhere stays what it is.
        """
        if self._interrupted:
            raise Interrupted
        self._task = task = asyncio.current_task()
        try:
            return await start()
        except asyncio.CancelledError:
            if task is not None and self._was_ours(task):
                raise Interrupted from None
            raise
        finally:
            self._task = None

    def _was_ours(self, task: asyncio.Task[object]) -> bool:
        return self._interrupted and task.uncancel() == 0


async def finished(work: Coroutine[Any, Any, T]) -> T:
    """Await something to its end, even when cancelled meanwhile; then go on being cancelled."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        with contextlib.suppress(asyncio.CancelledError):
            task.exception()  # seen; what counts now is that the caller is cancelled
        raise
