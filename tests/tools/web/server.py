"""Web servers on loopback, and a DNS that leads to them, or anywhere."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from bot import ExecutionContext, InMemorySessionManager, Session, Tool
from bot.tools.web import fetch_page_tool
from bot.tools.web.addresses import Address, is_allowed

LOOPBACK = "127.0.0.1"
Answering = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Server:
    """A web server.

    Attributes:
        pages: What it answers, by path; without an entry it answers 404.
        requests: What it was asked.
    """

    port: int = 0
    pages: dict[str, Answering] = field(default_factory=dict)
    requests: list[web.BaseRequest] = field(default_factory=list)

    def page(self, path: str, body: bytes | str = b"", status: int = 200, **headers: str) -> None:
        """Answer a path; `Content_Type` is a header's name here."""
        data = body.encode() if isinstance(body, str) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}

        async def answer(request: web.Request) -> web.StreamResponse:
            return web.Response(body=data, status=status, headers=named)

        self.pages[path] = answer

    def redirects(self, path: str, to: str) -> None:
        self.page(path, status=302, Location=to)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        if request.path not in self.pages:
            raise web.HTTPNotFound
        return await self.pages[request.path](request)


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    server, app = Server(), web.Application()
    app.router.add_route("*", "/{path:.*}", server._answer)
    runner = web.AppRunner(app, auto_decompress=False, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, LOOPBACK, 0)
        await site.start()
        server.port = runner.addresses[0][1]
        yield server
    finally:
        await runner.cleanup()


@dataclass
class Names(AbstractResolver):
    """A DNS: each name has answers, which are given in turn, the last again and again.

    An answer is addresses and a port; a name without any is unknown.
    """

    answers: Mapping[str, Sequence[tuple[Sequence[str], int]]]
    asked: list[str] = field(default_factory=list)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        turn = self.asked.count(host)
        self.asked.append(host)
        if host not in self.answers:
            raise OSError("no such name")
        known = self.answers[host]
        addresses, port = known[min(turn, len(known) - 1)]
        return [
            ResolveResult(hostname=host, host=each, port=port, family=family, proto=0, flags=0)
            for each in addresses
        ]

    async def close(self) -> None: ...


def reader(
    server: Server, *answers: tuple[Sequence[str], int], inside: Server | None = None
) -> Tool:
    """Return the tool, for which `page.test` is this server, as if that were a public one.

    `inside.test` is another, which is not taken for public.
    """
    names: dict[str, Sequence[tuple[Sequence[str], int]]] = {
        "page.test": answers or [([LOOPBACK], server.port)]
    }
    if inside is not None:
        names["inside.test"] = [([LOOPBACK], inside.port)]

    def allow(address: Address, port: int) -> bool:
        return (str(address), port) == (LOOPBACK, server.port) or is_allowed(address, port)

    return fetch_page_tool(allow=allow, resolver=Names(names))


async def fetched(tool: Tool, url: str) -> str:
    context = ExecutionContext(session=Session("s"), session_manager=InMemorySessionManager())
    output = await tool.invoke(tool.parameters.effective({"url": url}), context)
    return output.text
