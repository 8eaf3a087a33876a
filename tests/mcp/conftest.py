from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from bot import ExecutionContext, InMemorySessionManager, Session, Tool, ToolOutput
from bot.config import StdioServer
from bot.mcp import Servers
from bot.mcp.patience import Patience
from tests.forking.client import command_of_fork

WORKSHOP = str(Path(__file__).with_name("workshop.py"))
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
