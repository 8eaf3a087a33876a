"""The process always ends, whatever hangs or fails; and there is one bot a database."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import time
from asyncio import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.errors import ConfigError, StorageError
from bot.sandbox import Gate
from bot.storage.claim import claimed
from tests.commands import Ended, ended, printed, run, running, stopped
from tests.setups import PATIENCE, Setup, set_up

MAIN = """
import sys
from bot.__main__ import main
sys.exit(main(["run"]))
"""

TOOL = """
import asyncio, sys, time
from bot import tool
from bot import app
from bot.joining.tools import TOOLS
app.LAST_SECONDS = 3.0

@tool(name="roll_dice")
{function}

TOOLS["roll_dice"] = roll
"""

SYNC = """
def roll() -> str:
    "Never return."
    print("rolling", flush=True)
    while True:
        time.sleep(1)
"""

SWALLOWS = """
async def roll() -> str:
    "Never return, whoever asks for it."
    print("rolling", flush=True)
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass
"""

BLOCKS = """
async def roll() -> str:
    "Let nothing else happen."
    print("rolling", flush=True)
    while True:
        time.sleep(1)
"""

FAILS = """
from pkgutil import resolve_name

async def fail(*_args, **_options):
    raise RuntimeError("injected")

setattr(resolve_name({owner!r}), {name!r}, fail)
"""

NOT_LOGGED = """
import asyncio
from bot.frontend import ParleyClient

async def setup_hook(self):
    print("there", flush=True)
    await asyncio.sleep(3600)

ParleyClient.setup_hook = setup_hook
"""

NOT_OPENED = """
import asyncio
from bot.sessions import SQLiteSessionManager

async def initialize(self):
    print("there", flush=True)
    await asyncio.sleep(3600)

SQLiteSessionManager.initialize = initialize
"""


@pytest.fixture
async def home() -> AsyncIterator[Setup]:
    async with set_up() as made:
        yield made


@asynccontextmanager
async def scripted(
    home: Setup, folder: Path, text: str, **settings: str
) -> AsyncIterator[subprocess.Process]:
    """Run the bot, with something changed in it, while the block lasts."""
    script = folder / "script.py"
    script.write_text(text + MAIN)
    changed = {**home.settings, **settings}
    async with running(in_=folder, settings=changed, program=[str(script)]) as process:
        yield process


async def in_time(process: subprocess.Process, seconds: float) -> Ended:
    started = time.monotonic()
    end = await ended(process)
    assert time.monotonic() - started < seconds
    return end


@pytest.mark.parametrize(
    ("function", "status"), [(SYNC, 0), (SWALLOWS, 1), (BLOCKS, 1)], ids=["sync", "async", "loop"]
)
async def test_a_tool_that_never_returns_does_not_keep_it_alive(
    function: str, status: int, home: Setup, tmp_path: Path
) -> None:
    home.model.says(calls=[("roll_dice", {})])
    text = TOOL.format(function=function)
    async with scripted(home, tmp_path, text, SHUTDOWN_SECONDS="1") as process:
        await home.sandbox.connected(home.bot, PATIENCE)
        await home.alice.says("roll", in_=home.desk)
        await printed(process, "rolling")
        process.send_signal(signal.SIGTERM)
        end = await in_time(process, 40.0)
    assert end.status in (status, 0)
    assert "Traceback" not in end.err


async def test_a_connection_that_ends_for_good_ends_it_though_a_tool_hangs(
    home: Setup, tmp_path: Path
) -> None:
    home.model.says(calls=[("roll_dice", {})])
    text = TOOL.format(function=SWALLOWS)
    async with scripted(home, tmp_path, text, SHUTDOWN_SECONDS="1") as process:
        await home.sandbox.connected(home.bot, PATIENCE)
        await home.alice.says("roll", in_=home.desk)
        await printed(process, "rolling")
        await home.sandbox.disconnect(home.bot, 4004)
        end = await in_time(process, 40.0)
    assert end.status == 2
    assert "Discord refuses DISCORD_TOKEN" in end.err


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        ("bot.sessions:SQLiteSessionManager", "initialize"),
        ("bot.providers:Provider", "open"),
        ("discord:Client", "__aenter__"),
        ("discord:Client", "login"),
        ("bot.frontend.client", "learn_gateway"),
        ("bot.frontend.commands.tree:Tree", "sync_if_changed"),
        ("bot.sessions.stores.marks:MarkStore", "get"),
        ("discord:AutoShardedClient", "launch_shards"),
        ("discord:AutoShardedClient", "connect"),
        ("discord:AutoShardedClient", "close"),
        ("bot.sessions:SQLiteSessionManager", "close"),
    ],
)
async def test_whatever_fails_while_it_starts_it_ends(
    owner: str, name: str, home: Setup, tmp_path: Path
) -> None:
    text = FAILS.format(owner=owner, name=name)
    wrong = {} if name != "close" else {"DISCORD_TOKEN": "wrong"}
    async with scripted(home, tmp_path, text, **wrong) as process:
        end = await in_time(process, 50.0)
    assert end.status == 1
    assert "injected" in end.err


@pytest.mark.parametrize("text", [NOT_OPENED, NOT_LOGGED], ids=["opening", "login"])
async def test_it_can_be_stopped_while_it_starts(text: str, home: Setup, tmp_path: Path) -> None:
    async with scripted(home, tmp_path, text) as process:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"there\n"
        process.send_signal(signal.SIGTERM)
        end = await in_time(process, 40.0)
    assert end.status == 0
    assert "Traceback" not in end.err


@pytest.mark.parametrize("seconds", ["0", "1"])
async def test_a_command_that_discord_never_takes_an_answer_to_does_not_keep_it_alive(
    seconds: str, home: Setup, tmp_path: Path
) -> None:
    gate = Gate()
    settings = {**home.settings, "SHUTDOWN_SECONDS": seconds}
    async with running("run", in_=tmp_path, settings=settings) as process:
        await home.sandbox.connected(home.bot, PATIENCE)
        home.world.faults.next_request("POST", "/interactions/*/*/callback", held_by=gate)
        commanding = asyncio.create_task(home.alice.runs("/stop", in_=home.desk))
        await gate.reached(PATIENCE)
        process.send_signal(signal.SIGTERM)
        end = await in_time(process, 40.0)
        commanding.cancel()
    gate.release()
    assert end.status == 0
    assert "Traceback" not in end.err
    assert "never" not in end.err  # as Python says of what nobody awaits or asks for


async def test_a_model_that_hangs_does_not_keep_it_alive(home: Setup, tmp_path: Path) -> None:
    gate = home.model.hangs()
    settings = {**home.settings, "SHUTDOWN_SECONDS": "1"}
    async with running("run", in_=tmp_path, settings=settings) as process:
        await home.sandbox.connected(home.bot, PATIENCE)
        await home.alice.says("hello", in_=home.desk)
        await gate.reached.wait()
        process.send_signal(signal.SIGINT)
        end = await in_time(process, 40.0)
    assert end.status == 0
    assert "some turns are left open" in end.err


async def test_nobody_reading_what_it_logs_does_not_keep_it_alive(
    home: Setup, tmp_path: Path
) -> None:
    text = TOOL.format(function=BLOCKS) + (
        "import logging, pathlib, threading\n"
        "def clog():\n"
        "    while not pathlib.Path('clog').exists(): time.sleep(0.1)\n"
        "    while True: logging.getLogger('bot').error('x' * 10_000)\n"
        "threading.Thread(target=clog, daemon=True).start()\n"
    )
    async with scripted(home, tmp_path, text, SHUTDOWN_SECONDS="0") as process:
        await home.sandbox.connected(home.bot, PATIENCE)
        (tmp_path / "clog").touch()
        async with clogged(process), asyncio.timeout(PATIENCE):
            process.send_signal(signal.SIGTERM)
            while process.returncode is None:  # noqa: ASYNC110 - `wait` waits for its output too
                await asyncio.sleep(0.1)


@asynccontextmanager
async def clogged(process: subprocess.Process) -> AsyncIterator[None]:
    """Do not read what it logs while the block lasts, which begins once nothing more fits."""
    transport = process.stderr._transport  # type: ignore[union-attr]  # it has no other name
    transport.pause_reading()
    pipe = os.open(f"/proc/{process.pid}/fd/2", os.O_WRONLY)
    try:
        async with asyncio.timeout(PATIENCE):
            while select.select([], [pipe], [], 0)[1]:  # noqa: ASYNC110 - it is still written to
                await asyncio.sleep(0.01)
        yield
    finally:
        os.close(pipe)
        transport.resume_reading()


# -- one bot a database ----------------------------------------------------------------------------


async def test_a_second_bot_is_refused_and_the_first_is_named(home: Setup, tmp_path: Path) -> None:
    home.model.says("Hello.").then("ok").then("You are Alice.")
    async with running("run", in_=tmp_path, settings=home.settings) as first:
        await home.sandbox.connected(home.bot, PATIENCE)
        second, check, chat = await asyncio.gather(
            run("run", in_=tmp_path, settings=home.settings),
            run("check", in_=tmp_path, settings=home.settings),
            run("chat", in_=tmp_path, settings=home.settings, says="hello\n"),
        )
        end = await stopped(first)
    assert second.status == 2
    assert f"another bot works with the database {tmp_path / 'parley.db'}: " in second.err
    assert f"process {first.pid}, since 2" in second.err
    assert "Traceback" not in second.err
    assert (check.status, chat.status, end.status) == (0, 0, 0)


async def test_after_a_kill_the_next_one_starts(home: Setup, tmp_path: Path) -> None:
    async with running("run", in_=tmp_path, settings=home.settings) as first:
        await home.sandbox.connected(home.bot, PATIENCE)
        first.kill()
        await first.wait()
        await home.sandbox.disconnected(home.bot, PATIENCE)
        async with running("run", in_=tmp_path, settings=home.settings) as second:
            await home.sandbox.connected(home.bot, PATIENCE)
            assert (await stopped(second)).status == 0


def test_another_path_to_the_same_database_is_the_same_claim(tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "real.db")
    with claimed(tmp_path / "real.db"):
        with pytest.raises(ConfigError, match="process"), claimed(link):
            raise AssertionError("it was not refused")
    with claimed(link):
        pass


def test_a_claim_needs_a_place_for_its_lock(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError), claimed(tmp_path / "file" / "data.db"):
        raise AssertionError("there was no lock")
