"""What a network may have between the bot and a service: TLS, and an HTTP proxy."""

from __future__ import annotations

import ssl
from asyncio import StreamReader, StreamWriter
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trustme

from tests.proxies import Proxy

NAME = "models.test"
"""A host that is reached by the proxy only."""


class HttpProxy(Proxy):
    """Leads all addresses to one server, whatever their names.

    Attributes:
        asked: What it was asked for: the method and the address of each connection.
        refuses_with: The status it answers with in place of leading anywhere.
        answers: Whether it answers at all.
    """

    def __init__(self, to: str, *, login: str = "") -> None:
        super().__init__(to)
        self.asked: list[str] = []
        self.refuses_with = 0
        self.answers = True
        self._login = b64encode(login.encode()).decode()

    async def _connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, address, _ = head.split(" ", 2)
        self.asked.append(f"{method} {address}")
        status = self._status(head)
        if not self.answers:
            await reader.read()
            writer.close()
        elif status != 200:
            writer.write(f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n".encode())
            writer.close()
        elif method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            await self._join(reader, writer)
        else:
            await self._join(reader, writer, head.encode())

    def _status(self, head: str) -> int:
        if self._login and f"Proxy-Authorization: Basic {self._login}\r\n" not in head:
            return 407
        return self.refuses_with or 200


@asynccontextmanager
async def encrypted(base_url: str, authority: trustme.CA) -> AsyncIterator[Proxy]:
    """Serve by TLS what a server says, under the proxied name and this machine's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", NAME).configure_cert(context)
    async with Proxy(base_url).serving(context) as front:
        yield front


@asynccontextmanager
async def proxied(
    scheme: str, base_url: str, authority: trustme.CA, login: str = ""
) -> AsyncIterator[HttpProxy]:
    """Serve a proxy that leads to the service, itself or by TLS."""
    async with encrypted(base_url, authority) as front:
        proxy = HttpProxy(base_url if scheme == "http" else front.url, login=login)
        async with proxy.serving():
            yield proxy
