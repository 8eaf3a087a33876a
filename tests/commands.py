"""Running `python -m bot` as people do, in a folder where nothing else is set."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bot.config import child_environment
from tests.forking.client import WARNINGS, create_forked

ROOT = Path(__file__).parent.parent
LIMIT = 60.0
Settings = Mapping[str, str]
NOTHING: Settings = {}


@dataclass(frozen=True)
class Ended:
    """What a command left."""

    status: int | None
    out: str
    err: str


def environment(settings: Settings) -> dict[str, str]:
    """Return an environment with these settings only."""
    made = child_environment(values=settings)
    return made | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": WARNINGS}


@asynccontextmanager
async def running(
    *arguments: str,
    in_: Path,
    settings: Settings = NOTHING,
    stdin: int = subprocess.PIPE,
    program: Sequence[str] = ("-m", "bot"),
    fresh: bool = False,
) -> AsyncIterator[subprocess.Process]:
    """Run a command while the block lasts, in a fork or, if it is to be fresh, in a new Python."""
    create = partial(subprocess.create_subprocess_exec, sys.executable) if fresh else create_forked
    process = await create(
        *(*program, *arguments),
        cwd=in_,
        env=environment(settings),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def run(
    *arguments: str, in_: Path, says: str = "", settings: Settings = NOTHING, fresh: bool = False
) -> Ended:
    """Run a command to its end, with this on its standard input."""
    async with running(*arguments, in_=in_, settings=settings, fresh=fresh) as process:
        return await ended(process, says)


async def ended(process: subprocess.Process, says: str = "") -> Ended:
    """Return what a command leaves, once it has ended."""
    async with asyncio.timeout(LIMIT):
        out, err = await process.communicate(says.encode() if process.stdin else None)
    return Ended(process.returncode, out.decode(), err.decode())


async def stopped(process: subprocess.Process, number: signal.Signals = signal.SIGTERM) -> Ended:
    """Send a signal, and return what the command leaves."""
    process.send_signal(number)
    return await ended(process)


async def printed(process: subprocess.Process, text: str) -> str:
    """Return what a command prints up to a text, once it does."""
    return await _read(process.stdout, text)


async def complained(process: subprocess.Process, text: str) -> str:
    """Return what a command prints where errors go, up to a text, once it does."""
    return await _read(process.stderr, text)


async def _read(stream: asyncio.StreamReader | None, text: str) -> str:
    assert stream is not None
    seen = b""
    async with asyncio.timeout(LIMIT):
        while text.encode() not in seen:
            data = await stream.read(4096)
            assert data, f"it ended without saying {text!r}: {seen.decode()}"
            seen += data
    return seen.decode()
