from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

from bot import ExecutionContext, InMemorySessionManager, Session, Tool, ToolOutput
from bot.config import HttpServer, StdioServer
from bot.mcp import Servers
from bot.mcp.patience import Patience
from tests.forking.client import command_of_fork

WORKSHOP = str(Path(__file__).with_name("workshop.py"))
KEY = "abc-123-xyz"
SDK = ("anyio", "mcp.server.mcpserver")
QUICK = Patience(start=30, connect=30, answer=30, back=30, first_delay=0.01, settled=0)


def workshop(*habits: str, name: str = "shop", **more: object) -> StdioServer:
    """Return the settings of the tests' own server."""
    command, *args = command_of_fork(WORKSHOP, *habits, imports=SDK)
    return StdioServer(name=name, command=command, args=tuple(args), **more)  # type: ignore[arg-type]


async def used(tool: Tool, told: list[str] | None = None, **arguments: object) -> str:
    """Call a tool as an agent would."""
    context = ExecutionContext(
        session=Session("s"),
        session_manager=InMemorySessionManager(),
        on_progress=(told if told is not None else []).append,
    )
    return (await output_of(tool, context, **arguments)).text


async def output_of(tool: Tool, context: ExecutionContext, **arguments: object) -> ToolOutput:
    """Call a tool and return its text and its files."""
    return await tool.invoke(tool.parameters.effective(arguments), context)


async def until(true: Callable[[], object]) -> None:
    """Wait until something is true."""
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110 - what is waited for is outside this process
            await asyncio.sleep(0.01)


def pids(words: str) -> list[int]:
    """Return the processes whose command line has all of these words."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            line = (each / "cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if words in line.replace("\0", " ") and int(each.name) != os.getpid():
            found.append(int(each.name))
    return found


def names(servers: Servers) -> list[str]:
    return list(servers.tools(()))


@dataclass
class Address:
    """A server of the tests on loopback, which can be stopped and begun again."""

    port: int

    @property
    def settings(self) -> HttpServer:
        url = f"http://127.0.0.1:{self.port}/mcp"
        return HttpServer(name="web", url=url, headers={"X-Key": KEY})

    def served(self, *extra: str) -> AbstractAsyncContextManager[None]:
        return self.serving(app(*extra))

    @asynccontextmanager
    async def serving(self, served: Any) -> AsyncIterator[None]:
        config = uvicorn.Config(
            served, port=self.port, log_level="critical", ws="none", log_config=None
        )
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        await until(lambda: server.started or task.done())
        try:
            yield
        finally:
            server.should_exit = server.force_exit = True
            await task
            await server.lifespan.shutdown()  # an exit by force leaves it out


def app(*extra: str) -> Any:
    server = MCPServer("web", log_level="CRITICAL")

    @server.tool()
    def whoami(context: Context) -> str:
        """Tell which key was sent."""
        return (context.headers or {}).get("x-key", "nobody")

    for name in extra:
        server.add_tool(whoami, name=name)
    return server.streamable_http_app()


@pytest.fixture
def address(port: int) -> Address:
    return Address(port)
