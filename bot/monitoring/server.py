"""`/metrics` and `/healthz`, answered on the event loop: one that does not turn answers nothing.

There is no password: whoever reaches the address reads the numbers, which name no person and hold
no text. It listens on loopback unless told otherwise.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from bot.errors import ConfigError, StorageError
from bot.monitoring.metrics import Watched

if TYPE_CHECKING:
    from aiohttp import web

    from bot.monitoring.prometheus import PrometheusMetrics

logger = logging.getLogger(__name__)

T = TypeVar("T")

FRESH = 10.0
"""Seconds for which a write, or a count, is not done again."""
SOON = 2.0
"""Seconds after which a database that has not answered is not well."""
PATIENCE = 5.0
"""Seconds in which a bot that is well says so."""
RETRY = 1.0
"""Seconds after which a port that another process has is tried again."""
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - to connect to it, not to bind


class Question(Generic[T]):
    """What the database is asked, not again while its answer is fresh or has not come.

    Attributes:
        answer: The last one.
    """

    def __init__(self, ask: Callable[[], Awaitable[T]]) -> None:
        self.answer: T | None = None
        self._ask = ask
        self._asking: asyncio.Task[bool] | None = None
        self._answered = -FRESH

    async def is_answered(self) -> bool:
        """Return whether there is a fresh answer; soon, whatever hangs."""
        if time.monotonic() - self._answered < FRESH:
            return True
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._asked(), name="asking the database")
        await asyncio.wait({self._asking}, timeout=SOON)
        return self._asking.done() and self._asking.result()

    async def _asked(self) -> bool:
        try:
            self.answer = await self._ask()
        except StorageError:
            return False
        self._answered = time.monotonic()
        return True

    async def close(self) -> None:
        """Leave what has not been answered."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait({self._asking})


class Monitor:
    """Answers how the bot is."""

    def __init__(self, metrics: PrometheusMetrics, watched: Watched) -> None:
        self._metrics = metrics
        self._watched = watched
        self._writing = Question(watched.write)
        self._counting = Question(watched.count_open)

    async def health(self, _: web.Request) -> web.Response:
        """Answer 200 when all is well, else 503; one line each."""
        from aiohttp import web

        found = {
            "gateway": self._watched.connected(),
            "database": await self._writing.is_answered(),
        }
        text = "".join(f"{name} {'ok' if good else 'FAIL'}\n" for name, good in found.items())
        return web.Response(text=text, status=200 if all(found.values()) else 503)

    async def metrics(self, _: web.Request) -> web.Response:
        """Answer with all numbers."""
        from aiohttp import web

        await self._counting.is_answered()  # else it is what was last known
        found = self._counting.answer
        body = self._metrics.text(connected=self._watched.connected(), found=found)
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return web.Response(body=body, headers={"Content-Type": kind})

    async def close(self) -> None:
        """Ask nothing any more."""
        await self._writing.close()
        await self._counting.close()


@asynccontextmanager
async def monitored(
    host: str, port: int, metrics: PrometheusMetrics, watched: Watched
) -> AsyncIterator[None]:
    """Answer on a port while the block lasts; one that another process has, once it is free.

    In a deploy that is the bot which is about to end.

    Raises:
        ConfigError: if the port can never be used.
    """
    from aiohttp import web

    monitor = Monitor(metrics, watched)
    app = web.Application()
    app.router.add_get("/metrics", monitor.metrics)
    app.router.add_get("/healthz", monitor.health)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(monitor.close)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        if not await _listens(runner, host, port):
            logger.warning("METRICS_PORT: %s:%d is taken: tried again until it is free", host, port)
            waiting = asyncio.create_task(_listen(runner, host, port), name="metrics port")
            stack.push_async_callback(_ended, waiting)
        yield


async def _listen(runner: web.AppRunner, host: str, port: int) -> None:
    """Listen as soon as the port is free."""
    listens = False
    while not listens:
        await asyncio.sleep(RETRY)
        with suppress(ConfigError):  # it could be used before, and may be again
            listens = await _listens(runner, host, port)
    logger.info("METRICS_PORT: %s:%d is free, and answers now", host, port)


async def _listens(runner: web.AppRunner, host: str, port: int) -> bool:
    """Listen, and return whether the port was free.

    Raises:
        ConfigError: if it cannot be used for another reason.
    """
    from aiohttp import web

    site = web.TCPSite(runner, host, port)
    try:
        await site.start()
    except OSError as exc:
        await site.stop()
        if exc.errno == errno.EADDRINUSE:
            return False
        raise ConfigError(f"METRICS_PORT: {site.name} cannot be used: {exc.strerror}") from exc
    return True


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})


def ask_health(host: str, port: int) -> tuple[bool, str]:
    """Ask a bot on this machine how it is; return whether it is well, and what it says."""
    host = EVERYWHERE.get(host, host)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}/healthz"
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            return True, answer.read().decode()
    except urllib.error.HTTPError as exc:
        return False, exc.read().decode()
    except OSError as exc:
        why = getattr(exc, "reason", exc)
        return False, f"no answer from {shown}:{port}: {getattr(why, 'strerror', None) or why}\n"
