"""What the README shows is true: its programs run, its names exist."""

import ast
import inspect
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from bot import (
    Agent,
    RunStatus,
    Session,
    SessionExistsError,
    SessionManager,
    UserMessageEvent,
)
from bot.agent.policy.file import parse_policy
from bot.check import PERMISSIONS, SCOPES
from bot.config import env_names
from bot.config.servers import read_servers
from bot.sandbox.model import ScriptedModel, serve_model
from bot.tools import own_tools

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
async def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[ScriptedModel]:
    scripted = ScriptedModel()
    monkeypatch.chdir(tmp_path)
    async with serve_model(scripted) as service:
        monkeypatch.setenv("OPENAI_BASE_URL", service.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_MODEL", "scripted")
        yield scripted


async def execute(block: str, names: dict[str, Any]) -> None:
    """Run a block as `python -m asyncio` would, with what the blocks before it have named."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code: CodeType = compile(block, "README.md", "exec", flags=flags)
    result = eval(code, names)  # noqa: S307 - the README is ours
    if inspect.isawaitable(result):
        await result


async def test_the_programs_run_as_they_stand(
    model: ScriptedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    setting_up, talking, approving, _ = BLOCKS
    names: dict[str, Any] = {"__name__": "readme"}
    await execute(setting_up, names)

    model.says("Hello Alice.").then("You are Alice.")
    await execute(talking, names)
    shown = capsys.readouterr().out
    assert shown.startswith("Hello Alice. (UserMessageEvent(")
    assert shown.endswith("You are Alice.user-123\n")
    assert [each["role"] for each in model.requests[1]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert len(model.requests[0]["tools"]) == 2

    model.says(calls=[("order", {"item": "pizza", "count": 2})]).then("Two pizzas are coming.")
    await execute(approving, names)
    assert capsys.readouterr().out == (
        "awaiting_approval \n"
        "order {'item': 'pizza', 'count': 2}\n"
        "completed Two pizzas are coming.\n"
    )
    assert model.requests[-1]["messages"][-1]["content"] == "ordered: 2 x pizza"

    model.says("Which ones?")
    await execute(approving, names)
    assert capsys.readouterr().out == "completed Which ones?\n"


async def test_the_session_manager_works_with_an_agent(
    model: ScriptedModel, tmp_path: Path
) -> None:
    setting_up, _, _, manager = BLOCKS
    names: dict[str, Any] = {"__name__": "readme"}
    await execute(setting_up, names)
    await execute(manager, names)
    made: Callable[[Path], SessionManager] = names["FileSessionManager"]
    model.says("Hello Alice.").then("You are Alice.")
    for text, answer in (("I am Alice", "Hello Alice."), ("who am I?", "You are Alice.")):
        sessions = made(tmp_path / "sessions")
        agent = Agent(provider=names["provider"], session_manager=sessions)
        result = await agent.run(text, session_id="a/b", user_id="alice")
        assert (result.output, result.status) == (answer, RunStatus.COMPLETED)
        await agent.close()
    sessions = made(tmp_path / "sessions")
    kept = await sessions.get("a/b")
    assert isinstance(kept, Session)
    assert [e.text for e in kept.events if isinstance(e, UserMessageEvent)] == [
        "I am Alice",
        "who am I?",
    ]
    assert await sessions.get("nobody") is None
    with pytest.raises(SessionExistsError):
        await sessions.create("a/b")
    assert len(manager.strip().splitlines()) <= 40


def test_its_file_of_mcp_servers_is_read(tmp_path: Path) -> None:
    [block] = re.findall(r"^```json\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    file = tmp_path / "mcp.json"
    file.write_text(block)
    servers, problems = read_servers(file, {"SHOP_KEY": "k"})
    assert problems == []
    assert [(each.name, each.trust_read_only) for each in servers] == [
        ("time", True),
        ("shop", False),
    ]


async def test_its_tools_can_be_named_as_a_file(model: ScriptedModel, tmp_path: Path) -> None:
    (tmp_path / "my_tools.py").write_text(BLOCKS[0])
    assert [each.name for each in own_tools("my_tools.py")] == ["price", "order"]


def test_it_names_only_settings_that_exist() -> None:
    named = set(re.findall(r"`([A-Z][A-Z_]+)`", README))
    libpqs = {"PGPASSWORD"}
    assert {"DISCORD_TOKEN", "OPENAI_API_KEY"} < named <= env_names() | libpqs


def test_it_names_only_commands_of_make_that_exist() -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE)) <= {*targets}


def test_its_map_shows_every_room() -> None:
    named = set(re.findall(r"`bot/([\w.]+)/?`", README))
    rooms = {path.name for path in (ROOT / "bot").iterdir() if not path.name.startswith("__py")}
    assert named == rooms - {"__init__.py", "py.typed"}


def test_it_names_what_the_invitation_asks_for() -> None:
    import discord

    text = " ".join(README.split())
    for name, granted in discord.Permissions(PERMISSIONS):
        spoken = name.replace("read_messages", "view_channels").replace("_", " ")
        assert (f"{spoken}" in text) is granted or not granted
    assert all(f"`{scope}`" in text for scope in SCOPES.split("+"))


def test_the_guide_for_contributors_shows_a_test_that_is_there() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    shown = [line[4:] for line in guide.splitlines() if line.startswith("    ")]
    assert "\n".join(shown) in (ROOT / "tests" / "test_app.py").read_text()


def test_the_rules_it_shows_are_a_policy() -> None:
    [text] = re.findall(r"^```toml\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    policy = parse_policy(text, name="README.md")
    assert str(policy.of("announce", 456).managers) == "free"
    approvers = policy.of("pay", None).rule.approvers
    assert approvers is not None
    assert approvers.two_person
