"""Rows of starting: `python -m benchmarks.all starting`."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from benchmarks.fleet import ROOT
from benchmarks.rows import Row, median, plus, times
from bot.config import child_environment
from tests.setups import PATIENCE, Setup, set_up

ROUNDS = 7
ALL_NAMES = 0.65  # our own goal: what was set is for the import alone
LIBRARIES = "aiohttp, aiosqlite, discord.ext.commands, openai, pydantic_settings"


def took(program: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)
    return time.perf_counter() - started


async def identified(home: Setup) -> float:
    """Return the seconds from the start of the process until it is in Discord."""
    settings = {**home.settings, "LOG_LEVEL": "ERROR"}
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "bot", "run"),
            cwd=folder,
            env=child_environment(values=settings) | {"PYTHONPATH": str(ROOT)},
        )
        await home.sandbox.connected(home.bot, PATIENCE)
        seconds = time.perf_counter() - started
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await home.sandbox.disconnected(home.bot, PATIENCE)
    return seconds


async def rows() -> Sequence[Row]:
    lazy, names, discord, libraries, started = [], [], [], [], []
    async with set_up() as home:
        for _ in range(ROUNDS):
            lazy.append(await asyncio.to_thread(took, "import bot"))
            names.append(await asyncio.to_thread(took, "from bot import *"))
            discord.append(await asyncio.to_thread(took, "import discord"))
            libraries.append(await asyncio.to_thread(took, f"import {LIBRARIES}"))
            started.append(await identified(home))
    floor, ratio = median(discord), 130 / 267
    return [
        times("import bot", "ms", floor, median(lazy), ratio, "import discord", 1e3, 130.0),
        times("all its names", "ms", floor, median(names), ALL_NAMES, "import discord", 1e3),
        plus(
            "from the process's start to IDENTIFY",
            "ms",
            median(libraries),
            median(started),
            300.0,
            "import of its libraries",
            1e3,
        ),
    ]
