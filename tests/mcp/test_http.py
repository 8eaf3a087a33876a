"""Servers at an address: headers sent, sessions lost and found, addresses where nobody is."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

from bot import ToolError
from bot.config import HttpServer
from bot.mcp import Server, open_servers
from tests.mcp.conftest import QUICK, names, until, used

KEY = "abc-123-xyz"


@dataclass
class Address:
    """A server of the tests on loopback, which can be stopped and begun again."""

    port: int = field(default_factory=lambda: _free_port())

    @property
    def settings(self) -> HttpServer:
        url = f"http://127.0.0.1:{self.port}/mcp"
        return HttpServer(name="web", url=url, headers={"X-Key": KEY})

    def served(self, *extra: str) -> AbstractAsyncContextManager[None]:
        return self.serving(app(*extra))

    @asynccontextmanager
    async def serving(self, served: Any) -> AsyncIterator[None]:
        config = uvicorn.Config(served, port=self.port, log_level="critical", ws="none")
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        await until(lambda: server.started or task.done())
        try:
            yield
        finally:
            server.should_exit = server.force_exit = True
            await task


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def app(*extra: str) -> Any:
    server = MCPServer("web", log_level="CRITICAL")

    @server.tool()
    def whoami(context: Context) -> str:
        """Tell which key was sent."""
        return (context.headers or {}).get("x-key", "nobody")

    for name in extra:
        server.add_tool(whoami, name=name)
    return server.streamable_http_app()


async def test_headers_are_sent_with_every_request() -> None:
    address = Address()
    async with address.served(), open_servers([address.settings], QUICK) as servers:
        assert names(servers) == ["web_whoami"]
        assert await used(servers.tools(())["web_whoami"]) == KEY


async def test_an_address_where_nobody_is_yet_is_found_later() -> None:
    address = Address()
    async with open_servers([address.settings], replace(QUICK, max_delay=0.1)) as servers:
        assert servers.servers[0].problem == "ConnectError"
        async with address.served():
            await until(lambda: names(servers))
            assert await used(servers.tools(())["web_whoami"]) == KEY


async def test_a_server_that_was_replaced_by_another_is_noticed_by_looking_after_it() -> None:
    address = Address()
    patience = replace(QUICK, look=0.1, max_delay=0.1)
    async with open_servers([address.settings], patience) as servers:
        async with address.served():
            await until(lambda: names(servers) == ["web_whoami"])
        async with address.served("another"):
            await until(lambda: names(servers) == ["web_another", "web_whoami"])
            assert await used(servers.tools(())["web_another"]) == KEY


async def test_a_server_that_has_gone_is_told_and_the_next_call_finds_it_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    address = Address()
    patience = replace(QUICK, back=0.2, max_delay=0.1)
    async with open_servers([address.settings], patience) as servers:
        async with address.served():
            await until(lambda: names(servers))
        tool = servers.tools(())["web_whoami"]
        with pytest.raises(ToolError):
            await used(tool)
        async with address.served():
            await until(lambda: is_well(servers.servers[0]))
            assert await used(tool) == KEY
    assert KEY not in caplog.text


def is_well(server: Server) -> bool:
    return not server.problem
