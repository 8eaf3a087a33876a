"""Tools that leave a line in a file beside this one whenever they run; `TOOLS` names this file."""

from __future__ import annotations

import os
from pathlib import Path

from bot import File, ToolOutput, tool

LINES = Path(__file__).with_name("lines.txt")


def _write(line: str) -> str:
    descriptor = os.open(LINES, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)
    return f"wrote {line}"


@tool
def jot(line: str) -> str:
    """Write a line; nobody is asked."""
    return _write(line)


@tool
def draw(line: str) -> ToolOutput:
    """Write a line, and show it as a file; nobody is asked."""
    return ToolOutput(_write(line), [File(f"{line}.txt", line.encode())])


@tool(approval=True)
async def burn(line: str) -> str:
    """Write a line, once a human has said yes."""
    return _write(line)
