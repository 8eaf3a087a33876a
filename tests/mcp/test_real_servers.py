"""Servers that people really use; skipped where they are absent, but not in CI."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import sys
from pathlib import Path

import pytest

from bot import Session, ToolError, ToolOutcomeUnknownError
from bot.config import StdioServer
from bot.mcp import open_servers
from tests.mcp.conftest import QUICK, names, pids, until, used

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = ROOT / ".venv" / "mcp-servers" / "node_modules" / ".bin"


def absent(what: str) -> None:
    """Skip a test for want of a server; in CI it fails."""
    if os.environ.get("CI"):  # noqa: TID251 - the test run's own setting, not the bot's
        pytest.fail(f"CI is set and there is no {what}; .ci/run installs it")
    pytest.skip(f"there is no {what} here; .ci/run installs it")


def of_python(module: str, name: str, *args: str) -> StdioServer:
    if importlib.util.find_spec(module) is None:
        absent(module)
    return StdioServer(name=name, command=sys.executable, args=("-m", module, *args))


def of_node(program: str, name: str, *args: str) -> StdioServer:
    if not (PROGRAMS / program).exists():
        absent(program)
    return StdioServer(name=name, command=str(PROGRAMS / program), args=args)


async def test_time_is_listed_called_and_refuses_what_it_does_not_know() -> None:
    server = of_python("mcp_server_time", "time", "--local-timezone=Europe/Oslo")
    async with open_servers([server], QUICK) as servers:
        tools = servers.tools(())
        assert list(tools) == ["time_convert_time", "time_get_current_time"]
        assert all(each.is_gated({}, Session("s")) for each in tools.values())
        told = await used(tools["time_get_current_time"], timezone="Asia/Tokyo")
        assert '"timezone": "Asia/Tokyo"' in told
        with pytest.raises(ToolError, match="Nowhere"):
            await used(tools["time_get_current_time"], timezone="Nowhere/Town")


async def test_git_tells_of_a_repository_and_only_what_reads_is_free(tmp_path: Path) -> None:
    server = of_python("mcp_server_git", "git", "--repository", str(tmp_path))
    process = await asyncio.create_subprocess_exec("git", "init", "-q", str(tmp_path))
    assert await process.wait() == 0
    trusted = StdioServer(
        name="git", command=server.command, args=server.args, trust_read_only=True
    )
    async with open_servers([trusted], QUICK) as servers:
        tools = servers.tools(())
        assert not tools["git_git_status"].is_gated({}, Session("s"))
        assert tools["git_git_commit"].is_gated({}, Session("s"))
        told = await used(tools["git_git_status"], repo_path=str(tmp_path))
        assert "No commits yet" in told


async def test_the_filesystem_is_read_written_and_left_alone_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Hello")
    server = of_node("mcp-server-filesystem", "files", str(tmp_path))
    async with open_servers([server], QUICK) as servers:
        tools = servers.tools(())
        assert await used(tools["files_read_text_file"], path=str(tmp_path / "a.txt")) == "Hello"
        await used(tools["files_write_file"], path=str(tmp_path / "b.txt"), content="there")
        assert (tmp_path / "b.txt").read_text() == "there"
        with pytest.raises(ToolError, match="Access denied"):
            await used(tools["files_read_text_file"], path="/etc/hostname")


async def test_everything_is_called_tells_progress_and_comes_back_when_it_is_killed(
    tmp_path: Path,
) -> None:
    server = of_node("mcp-server-everything", "every", "stdio", str(tmp_path))
    told: list[str] = []
    async with open_servers([server], QUICK) as servers:
        tools = servers.tools(())
        assert await used(tools["every_echo"], message="hi") == "Echo: hi"
        assert "42" in await used(tools["every_get-sum"], a=40, b=2)
        assert '"temperature"' in await used(
            tools["every_get-structured-content"], location="Chicago"
        )
        assert "image" in await used(tools["every_get-tiny-image"])
        long = tools["every_trigger-long-running-operation"]
        call = asyncio.create_task(used(long, told, duration=60, steps=300))
        await until(lambda: told)
        [pid] = pids(str(tmp_path))
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ToolOutcomeUnknownError):
            await call
        assert await used(tools["every_echo"], message="back") == "Echo: back"
        assert "every_echo" in names(servers)
