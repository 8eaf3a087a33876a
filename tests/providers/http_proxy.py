"""An HTTP proxy, as a company's network has one."""

from __future__ import annotations

from asyncio import StreamReader, StreamWriter
from base64 import b64encode

from tests.proxies import Proxy


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
