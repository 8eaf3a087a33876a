"""The bot as a process with servers: asked, shown, run once, lost, and ended with it."""

from __future__ import annotations

import json
import signal
from asyncio import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.config import StdioServer
from bot.sandbox import Message
from tests.commands import run, running, stopped
from tests.mcp.conftest import pids, until, workshop
from tests.setups import PATIENCE, Setup, set_up


@pytest.fixture
async def home() -> AsyncIterator[Setup]:
    async with set_up() as made:
        yield made


def write(folder: Path, *servers: StdioServer, **ours: Any) -> None:
    """Write the file that names servers, as people write it."""
    entries = {
        each.name: {"command": each.command, "args": [*each.args, str(folder)], "x-parley": ours}
        for each in servers
    }
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": entries}))


@asynccontextmanager
async def online(home: Setup, folder: Path) -> AsyncIterator[subprocess.Process]:
    settings = {**home.settings, "TOOLS": "none", "APPROVER_USERS": str(home.alice.id)}
    async with running("run", in_=folder, settings=settings) as process:
        await home.sandbox.connected(home.bot, PATIENCE)
        yield process
    await home.sandbox.disconnected(home.bot)


async def card(home: Setup) -> Message:
    def asking(messages: list[Message]) -> list[Message]:
        return [each for each in messages if [b["label"] for b in each.buttons][:1] == ["Approve"]]

    return asking(await home.desk.until(lambda each: bool(asking(each)), PATIENCE))[-1]


def told(home: Setup) -> str:
    """Return the last result that the model was told."""
    content: str = home.model.requests[-1]["messages"][-1]["content"]
    return content


async def test_a_call_is_asked_for_with_all_its_arguments_over_a_restart_and_then_runs(
    home: Setup, tmp_path: Path
) -> None:
    write(tmp_path, workshop())
    home.model.says(calls=[("shop_echo", {"text": "Hi"})]).then("It says hi.")
    async with online(home, tmp_path) as process:
        await home.alice.says("echo", in_=home.desk)
        shown = await card(home)
        assert "shop_echo" in shown.content
        assert '"text": "Hi"' in shown.content
        assert '"times": 1' in shown.content
        await stopped(process)
    async with online(home, tmp_path):
        await home.alice.clicks(await card(home), "Approve")
        await home.said("It says hi.")
    assert told(home) == "Hi"
    names = [[each["function"]["name"] for each in r["tools"]] for r in home.model.requests]
    assert names[0] == names[1]


async def test_a_server_that_dies_in_mid_call_is_told_and_the_next_call_works(
    home: Setup, tmp_path: Path
) -> None:
    write(tmp_path, workshop())
    home.model.says(calls=[("shop_die", {})]).then("It is lost.")
    home.model.says(calls=[("shop_echo", {"text": "again"})]).then("It is back.")
    async with online(home, tmp_path):
        await home.alice.says("die", in_=home.desk)
        await home.alice.clicks(await card(home), "Approve")
        await home.said("It is lost.")
        assert told(home).startswith("The server shop was lost in the middle of the call.")
        assert "unknown" in told(home)
        await home.alice.says("echo", in_=home.desk)
        await home.alice.clicks(await card(home), "Approve")
        await home.said("It is back.")
        assert told(home) == "again"


async def test_what_only_reads_runs_unasked_where_the_file_says_so(
    home: Setup, tmp_path: Path
) -> None:
    write(tmp_path, workshop(), trustReadOnly=True)
    home.model.says(calls=[("shop_echo", {"text": "Hi"})]).then("It says hi.")
    async with online(home, tmp_path):
        await home.alice.says("echo", in_=home.desk)
        await home.said("It says hi.")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_servers_end_with_the_bot_however_it_ends(
    home: Setup, tmp_path: Path, number: signal.Signals
) -> None:
    write(tmp_path, workshop(), workshop("flood", name="other"))
    async with online(home, tmp_path) as process:
        mine = pids(str(tmp_path))
        assert len(mine) == 2
        end = await stopped(process, number)
        assert end.status == (0 if number is signal.SIGTERM else -signal.SIGKILL)
    await until(lambda: pids(str(tmp_path)) == [])


async def test_check_lists_them_with_their_tools_or_what_is_wrong(
    home: Setup, tmp_path: Path
) -> None:
    wrong = StdioServer(name="wrong", command="no-such-program")
    write(tmp_path, workshop(), wrong, trustReadOnly=True)
    home.model.says("ok")
    ended = await run("check", in_=tmp_path, settings=home.settings)
    assert ended.status == 1
    lines = [" ".join(line.split()) for line in ended.out.splitlines() if " mcp " in line]
    assert lines[0].startswith("ok mcp shop: shop_die, shop_echo (free), shop_fail, ")
    assert lines[1] == "FAIL mcp wrong: there is no no-such-program"


async def test_the_terminal_has_them_too(home: Setup, tmp_path: Path) -> None:
    write(tmp_path, workshop())
    home.model.says(calls=[("shop_echo", {"text": "Hi"})]).then("It says hi.")
    ended = await run("chat", in_=tmp_path, says="echo\ny\n", settings=home.settings)
    assert "May I run shop_echo?" in ended.out
    assert "It says hi." in ended.out
    assert ended.status == 0
    assert pids(str(tmp_path)) == []


async def test_a_file_that_is_wrong_is_told_before_anything_starts(
    home: Setup, tmp_path: Path
) -> None:
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"a": {}, "b": {"url": 3}}}')
    ended = await run("run", in_=tmp_path, settings=home.settings)
    assert ended.status == 2
    assert ended.err.count("mcp.json: ") == 2


async def test_nothing_of_a_call_is_logged_when_all_is_well(home: Setup, tmp_path: Path) -> None:
    write(tmp_path, workshop("garbage"), trustReadOnly=True)
    home.model.says(calls=[("shop_echo", {"text": "whisper"})]).then("done")
    async with online(home, tmp_path) as process:
        await home.alice.says("echo", in_=home.desk)
        await home.said("done")
        end = await stopped(process)
    assert "whisper" not in end.err
    assert "Welcome to the workshop" not in end.err
    assert "Traceback" not in end.err
