"""Sync functions beside the event loop, in threads that never keep a process alive."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable
from typing import TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")


async def in_daemon_thread(function: Callable[[], T], *, name: str) -> T:
    """Run a function in a thread of its own and return what it returns.

    A thread cannot be stopped: if the caller is cancelled it runs on, and what comes of it is
    logged and dropped. The thread is a daemon, so that the process can end all the same.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            logger.warning("a late result of %s was dropped", name)
        elif error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # no error: it is a T

    def run() -> None:
        result, error = None, None
        try:
            result = context.run(function)
        except BaseException as exc:  # noqa: BLE001 - it is raised where it is awaited
            error = _as_error(exc, name)
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop has closed meanwhile
            logger.warning("a late result of %s was dropped", name)

    threading.Thread(target=run, name=f"tool {name}", daemon=True).start()
    return await future


def _as_error(exc: BaseException, name: str) -> Exception:
    """Return what may be raised elsewhere: a tool's `sys.exit()` must not end the bot."""
    if isinstance(exc, Exception) and not isinstance(exc, StopIteration):
        return exc
    return RuntimeError(f"{name} raised {type(exc).__name__}")
