"""The way to the sandbox, which can be gone for a while."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import TracebackType

from aiohttp import web

HOST = "127.0.0.1"
BACKLOG = 128


class Network:
    """A port on loopback that serves an application, unless the network is gone.

    ``cut`` is called when it goes, to let go at once of what hangs on connections.
    """

    def __init__(self, app: web.Application, cut: Callable[[], None]) -> None:
        self._cut = cut
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        self._socket: socket.socket | None = None
        self._site: web.SockSite | None = None
        self.port = 0

    async def __aenter__(self) -> Network:
        await self._runner.setup()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._runner.cleanup()
        if self._socket is not None:
            self._socket.close()

    async def open(self, port: int) -> int:
        """Serve on a port, 0 for a free one, and return which."""
        self._socket = _bound(port)
        self.port = self._socket.getsockname()[1]
        await self.returns()
        return self.port

    async def goes(self) -> None:
        """Cut every connection and refuse new ones."""
        if self._site is None:
            return
        await self._site.stop()
        self._site = None
        # Bound but not listening: nobody gets in, and nobody takes the port meanwhile.
        self._socket = _bound(self.port)
        self._cut()
        for each in list(self._runner.server.connections if self._runner.server else []):
            if each.transport is not None:
                each.transport.abort()

    async def returns(self) -> None:
        """Let connections in again."""
        if self._site is None and self._socket is not None:
            self._site = web.SockSite(self._runner, self._socket, backlog=BACKLOG)
            self._socket = None  # the site's now
            await self._site.start()

    @asynccontextmanager
    async def gone(self) -> AsyncIterator[None]:
        """Be gone while the block lasts."""
        await self.goes()
        try:
            yield
        finally:
            await self.returns()


def _bound(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((HOST, port))
    return made
