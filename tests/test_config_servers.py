"""The file that names MCP servers: as others write it; what is wrong is named at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.config import HttpServer, McpServer, StdioServer, child_environment, load_settings
from bot.config.servers import MCP_FILE, read_servers, variables_of
from bot.errors import ConfigError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with an `.env` that is complete."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("DISCORD_TOKEN=t\nOPENAI_API_KEY=k\nCITY=Oslo\n")
    return tmp_path


def written(servers: Any, path: Path = MCP_FILE) -> Path:
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


def read(entry: Any, **variables: str) -> tuple[McpServer | None, list[str]]:
    servers, problems = read_servers(written({"it": entry}), variables)
    return (servers[0] if servers else None), [each.split(": ", 2)[2] for each in problems]


def test_programs_and_addresses_are_read_in_their_order() -> None:
    written(
        {
            "files": {"command": "npx", "args": ["-y", "files"], "env": {"A": "1"}, "cwd": "/srv"},
            "web": {"type": "http", "url": "https://host/mcp", "headers": {"X-Key": "s"}},
            "off": {"disabled": True, "command": 3},
            "slow": {"type": "stdio", "command": "slow", "autoApprove": ["x"], "disabled": False},
            "read": {"command": "r", "x-parley": {"trustReadOnly": True, "timeout": 5}},
        }
    )
    assert load_settings().mcp_servers == [
        StdioServer(name="files", command="npx", args=("-y", "files"), env={"A": "1"}, cwd="/srv"),
        HttpServer(name="web", url="https://host/mcp", headers={"X-Key": "s"}),
        StdioServer(name="slow", command="slow"),
        StdioServer(name="read", command="r", trust_read_only=True, timeout=5),
    ]


def test_without_a_file_there_are_no_servers() -> None:
    assert load_settings().mcp_servers == ()


def test_without_an_env_file_either_nothing_is_missed(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / ".env").unlink()
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    written({"it": {"command": "a"}})
    assert load_settings(discord=False).mcp_servers == [StdioServer(name="it", command="a")]


def test_another_file_can_be_named_or_none(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written({"here": {"command": "a"}})
    written({"there": {"command": "b"}}, here / "other.json")
    monkeypatch.setenv("MCP_CONFIG", "other.json")
    assert [each.name for each in load_settings().mcp_servers] == ["there"]
    monkeypatch.setenv("MCP_CONFIG", "none")
    assert load_settings().mcp_servers == ()


def test_a_file_that_is_named_has_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_CONFIG", "nowhere.json")
    with pytest.raises(ConfigError, match=r"nowhere\.json: cannot be read: No such file"):
        load_settings()


def test_a_command_that_needs_no_agent_does_not_mind_the_file() -> None:
    MCP_FILE.write_text("{")
    assert load_settings(discord=False, model=False).mcp_servers == ()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "is not JSON: .* \\(line 1\\)"),
        (b"\xff\xfe", "is not a text in UTF-8"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"[]", 'needs "mcpServers"'),
        (b'{"servers": {}}', 'needs "mcpServers"'),
        (b'{"mcpServers": []}', 'needs "mcpServers"'),
    ],
)
def test_a_file_that_is_none_is_told(content: bytes, told: str) -> None:
    MCP_FILE.write_bytes(content)
    with pytest.raises(ConfigError, match=f"mcp.json: {told}"):
        load_settings()


def test_everything_that_is_wrong_is_named_at_once_with_the_other_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MAX_STEPS", "many")
    written(
        {
            "a": {"args": []},
            "b": {"command": 5, "args": "x", "env": {"KEY": {"secret": "hush"}}},
            "c": 3,
            "": {"command": "x"},
        }
    )
    with pytest.raises(ConfigError) as info:
        load_settings()
    problems = info.value.problems
    assert problems[0].startswith("MAX_STEPS must be a whole number")
    assert problems[1:] == (
        "mcp.json: a: needs a command (a program) or a url (streamable HTTP)",
        "mcp.json: b: command: Input should be a valid string",
        "mcp.json: b: args: Input should be a valid list",
        "mcp.json: b: env.KEY: Input should be a valid string",
        "mcp.json: c: must be an object",
        "mcp.json: a server: needs a name",
    )
    assert "hush" not in str(info.value)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"command": "a", "url": "http://b"}, "has a command and a url: it can be only one"),
        ({"url": "host/mcp"}, "url must be an address like https://host/path"),
        ({"type": "stdio", "url": "http://b"}, "is of type stdio, which goes with a command"),
        ({"type": "http", "command": "b"}, "is of type http, which goes with a url"),
        (
            {"type": "sse", "url": "http://b"},
            "type: must be stdio or http; the older SSE transport is not supported",
        ),
        (
            {"command": "a", "x-parley": {"trustReadonly": True}},
            "x-parley.trustReadonly: Extra inputs are not permitted",
        ),
        (
            {"command": "a", "x-parley": {"timeout": 0}},
            "x-parley.timeout: Input should be greater than 0",
        ),
    ],
)
def test_a_server_that_makes_no_sense_is_told(entry: Any, told: str) -> None:
    assert read(entry) == (None, [told])


def test_variables_are_put_in_wherever_a_text_is() -> None:
    entry = {
        "command": "${HOME_OF}/run",
        "args": ["--city=${env:CITY}", "${NOT_THERE:-none}", "$5 {x}"],
        "env": {"TOKEN": "${TOKEN}"},
    }
    server, problems = read(entry, HOME_OF="/srv", CITY="Oslo", TOKEN="hush")
    assert problems == []
    assert server == StdioServer(
        name="it",
        command="/srv/run",
        args=("--city=Oslo", "none", "$5 {x}"),
        env={"TOKEN": "hush"},
    )
    assert "hush" not in repr(server)


def test_variables_that_are_not_set_are_named() -> None:
    entry = {"url": "http://${HOST}/", "headers": {"X": "${KEY}"}}
    assert read(entry, KEY="") == (
        None,
        ["the variable HOST is not set", "the variable KEY is not set"],
    )


def test_the_variables_that_a_file_mentions_are_known(here: Path) -> None:
    written({"it": {"command": "${A}", "args": ["${env:B} ${C:-c}", "$D"]}})
    assert variables_of(MCP_FILE) == {"A", "B", "C"}
    assert variables_of(here / "nowhere.json") == variables_of(None) == frozenset()


def test_variables_come_from_the_env_file_too_and_reach_a_child_process() -> None:
    written({"it": {"command": "a", "args": ["${CITY}"]}})
    assert load_settings().mcp_servers == [StdioServer(name="it", command="a", args=("Oslo",))]
    assert child_environment(values={})["CITY"] == "Oslo"
