"""A server for the tests, with tools of every kind and some odd habits: run with its habits."""

from __future__ import annotations

import os
import pathlib
import sys
import time

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.types import CallToolResult, TextContent, ToolAnnotations

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True)

server = MCPServer("workshop", log_level="CRITICAL")


@server.tool(annotations=READS)
def echo(text: str, times: int = 1) -> str:
    """Say it again."""
    return " ".join([text] * times)


@server.tool()
def die() -> str:
    """End at once."""
    os._exit(3)


@server.tool()
async def wait(note: str) -> str:
    """Wait until it is cancelled, and note that."""
    file = anyio.Path(note)
    await file.write_text("begun")
    try:
        await anyio.sleep(60)
    finally:
        with anyio.CancelScope(shield=True):
            await file.write_text("cancelled")
    return "waited"


@server.tool()
async def grow(context: Context) -> str:
    """Learn a new tool."""

    def sing() -> str:
        """Sing."""
        return "la"

    server.add_tool(sing)
    server.remove_tool("shrink")
    await context.notify_tools_changed()
    if context.protocol_version is not None and context.protocol_version < "2026":
        await context.session.send_tool_list_changed()
    return "learned"


@server.tool()
def shrink() -> str:
    """Be there until `grow` was called."""
    return "small"


@server.tool()
async def steps(context: Context) -> str:
    """Tell of every step."""
    await context.report_progress(1, 2, "sawing")
    await context.report_progress(2, 2)
    return "done"


@server.tool(structured_output=False)
def picture() -> list[object]:
    """Draw something."""
    return ["a dot", Image(data=b"\x89PNG", format="png")]


@server.tool()
def structure() -> CallToolResult:
    """Answer with structure only."""
    return CallToolResult(content=[], structured_content={"size": 3, "who": "Ää"})


@server.tool()
def fail() -> CallToolResult:
    """Fail in its own words."""
    return CallToolResult(content=[TextContent(type="text", text="no wood left")], is_error=True)


@server.tool()
def variables() -> str:
    """Tell the variables of the environment."""
    return ",".join(sorted(os.environ))  # noqa: TID251


def main(habits: list[str]) -> None:
    if "mute" in habits:
        time.sleep(600)
    if "late" in habits:
        opens = pathlib.Path(habits[habits.index("late") + 1])
        while not opens.exists():
            time.sleep(0.01)
    if "garbage" in habits:
        print("Welcome to the workshop!\n{]\n\x00", flush=True)  # noqa: T201 - that is the point
    if "flood" in habits:
        for number in range(20_000):
            sys.stderr.write(f"{number} " + "x" * 500 + "\n")
    if "secret" in habits:
        sys.stderr.write(f"the key is {os.environ['KEY']}\nand more\n")  # noqa: TID251
        sys.stderr.flush()
    server.run("stdio")


if __name__ == "__main__":
    main(sys.argv[1:])
