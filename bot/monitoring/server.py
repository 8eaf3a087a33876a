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
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from bot.errors import ConfigError, StorageError
from bot.monitoring.metrics import Open, Watched

if TYPE_CHECKING:
    from aiohttp import web

    from bot.monitoring.prometheus import PrometheusMetrics

logger = logging.getLogger(__name__)

FRESH = 10.0
"""Seconds for which a write, or a count, is not done again."""
PATIENCE = 5.0
"""Seconds in which a bot that is well says so."""
RETRY = 1.0
"""Seconds after which a port that another process has is tried again."""
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - to connect to it, not to bind


class Monitor:
    """Answers how the bot is."""

    def __init__(self, metrics: PrometheusMetrics, watched: Watched) -> None:
        self._metrics = metrics
        self._watched = watched
        self._written = self._counted = -FRESH
        self._open: Open | None = None

    async def health(self, _: web.Request) -> web.Response:
        """Answer 200 when all is well, else 503; one line each."""
        from aiohttp import web

        found = {"gateway": self._watched.connected(), "database": await self._writes()}
        text = "".join(f"{name} {'ok' if good else 'FAIL'}\n" for name, good in found.items())
        return web.Response(text=text, status=200 if all(found.values()) else 503)

    async def metrics(self, _: web.Request) -> web.Response:
        """Answer with all numbers."""
        from aiohttp import web

        found = await self._count()
        body = self._metrics.text(connected=self._watched.connected(), found=found)
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return web.Response(body=body, headers={"Content-Type": kind})

    async def _writes(self) -> bool:
        if time.monotonic() - self._written < FRESH:
            return True
        try:
            await self._watched.write()
        except StorageError:
            return False
        self._written = time.monotonic()
        return True

    async def _count(self) -> Open | None:
        """Return what is open; what was last known, if the database does not answer."""
        if time.monotonic() - self._counted >= FRESH:
            with suppress(StorageError):
                self._open = await self._watched.count_open()
                self._counted = time.monotonic()
        return self._open


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
