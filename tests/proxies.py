"""What stands between the bot and a server, and may stop to forward what they say."""

from __future__ import annotations

import asyncio
import ssl
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit, urlunsplit


class Line:
    """One connection through the proxy; one that is silent stays open at both its ends.

    Attributes:
        asked: How often the client has said something after the server, or first.
    """

    def __init__(self, proxy: Proxy, client: StreamWriter, server: StreamWriter) -> None:
        self.silent = False
        self.asked = 0
        self._is_asked = False
        self.ends = (client, server)
        self._proxy = proxy

    async def forward(self, from_: StreamReader, to: StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await from_.read(65536):
                if self._proxy.silent_at is not None and self._proxy.silent_at in data:
                    self.silent = True
                if not self.silent:
                    self._note(asks=to is self.ends[1])
                    to.write(data)
        if not self.silent:
            to.close()

    def _note(self, *, asks: bool) -> None:
        self.asked += asks and not self._is_asked
        self._is_asked = asks


class Proxy:
    """Forwards what comes to a port of its own.

    Attributes:
        silent_at: A connection on which this is said is silent from then on.
    """

    def __init__(self, url: str) -> None:
        self.lines: list[Line] = []
        self.silent_at: bytes | None = None
        self._parts = urlsplit(url)
        self._tasks: set[asyncio.Task[None]] = set()
        self._port = 0

    @property
    def port(self) -> int:
        """Its own."""
        return self._port

    @property
    def url(self) -> str:
        """The server's address, by way of the proxy."""
        user, _, _ = self._parts.netloc.rpartition("@")
        return urlunsplit(self._parts._replace(netloc=f"{user}@127.0.0.1:{self._port}"))

    def be_silent(self) -> None:
        """Forward nothing more on the connections that there are."""
        for line in self.lines:
            line.silent = True

    async def cut(self) -> None:
        """End the connections that there are; what was said last is not heard any more."""
        for end in (end for line in self.lines for end in line.ends):
            end.transport.abort()

    @asynccontextmanager
    async def serving(self, tls: ssl.SSLContext | None = None) -> AsyncIterator[Proxy]:
        """Forward while the block lasts; with a certificate, what comes by TLS."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=tls)
        self._port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for end in (end for line in self.lines for end in line.ends):
                end.close()
            await asyncio.gather(*self._tasks)

    async def _connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        await self._join(reader, writer)

    async def _join(self, reader: StreamReader, writer: StreamWriter, said: bytes = b"") -> None:
        """Connect a client, which may have said something already, to the server."""
        from_server, to_server = await asyncio.open_connection(
            self._parts.hostname, self._parts.port
        )
        line = Line(self, writer, to_server)
        self.lines.append(line)
        to_server.write(said)
        for from_, to in ((reader, to_server), (from_server, writer)):
            task = asyncio.create_task(line.forward(from_, to))
            self._tasks.add(task)
