"""The agent in a terminal."""

import asyncio
import os
import pty
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot import Agent, File, InMemorySessionManager, Provider, ToolOutput, tool
from bot.console import Console, Lines
from bot.providers import RetryPolicy
from bot.sandbox.model import ScriptedModel, serve_model
from tests import commands


@dataclass
class Terminal:
    """Somebody at a keyboard, a console, and what it did."""

    model: ScriptedModel
    agent: Agent
    sessions: InMemorySessionManager
    deleted: list[str]
    output: pytest.CaptureFixture[str]

    async def types(self, *lines: str, end: str = "\n") -> str:
        """Type lines and the end of input; return what is shown."""
        reading, writing = os.pipe()
        try:
            os.write(writing, ("\n".join(lines) + end).encode())
            os.close(writing)
            await Console(self.agent, self.sessions, lines=Lines(reading)).converse()
        finally:
            os.close(reading)
        return self.output.readouterr().out


@pytest.fixture
async def terminal(capsys: pytest.CaptureFixture[str]) -> AsyncIterator[Terminal]:
    deleted: list[str] = []

    @tool(approval=True)
    def delete(path: str) -> str:
        deleted.append(path)
        return f"{path} is gone"

    @tool
    def read(path: str) -> str:
        raise ValueError(path)

    @tool
    def draw() -> ToolOutput:
        return ToolOutput("drawn", [File("cat.png", b"meow")])

    model, sessions = ScriptedModel(), InMemorySessionManager()
    async with serve_model(model) as service:
        provider = Provider(
            base_url=service.base_url, model="scripted", retry=RetryPolicy(max_attempts=1)
        )
        agent = Agent(provider=provider, session_manager=sessions, tools=[delete, read, draw])
        yield Terminal(model, agent, sessions, deleted, capsys)
        await agent.close()


async def test_each_line_is_answered(terminal: Terminal) -> None:
    terminal.model.says("Hello Alice.").then("You are Alice.")
    shown = await terminal.types("I am Alice", "", "who am I?")
    assert shown == "Hello Alice.\nYou are Alice.\n"


async def test_the_last_line_needs_no_end(terminal: Terminal) -> None:
    terminal.model.says("Grüß dich.")
    assert await terminal.types("Grüß Gott", end="") == "Grüß dich.\n"
    assert terminal.model.requests[0]["messages"][-1]["content"] == "Grüß Gott"


async def test_a_yes_lets_a_tool_run_that_was_shown_in_full(terminal: Terminal) -> None:
    terminal.model.says("I will.", calls=[("delete", {"path": "a\u202eb"})]).then("Gone.")
    shown = await terminal.types("delete it", "what?", "y")
    assert shown == (
        'I will.\n[delete {"path": "a\\u202eb"}]\n'
        'May I run delete?\n{\n  "path": "a\\u202eb"\n}\nGone.\n'
    )
    assert terminal.deleted == ["a\u202eb"]


@pytest.mark.parametrize("char", ["\u3164", "\ufe0f", "\u034f", "\u200b", "\x1b", "\u2028"])
async def test_what_would_hide_is_shown_before_it_runs(terminal: Terminal, char: str) -> None:
    terminal.model.says(calls=[("delete", {"path": f"a{char}b"})]).then("Gone.")
    shown = await terminal.types("delete it", "y")
    assert f'{{\n  "path": "a\\u{ord(char):04x}b"\n}}\n' in shown
    assert terminal.deleted == [f"a{char}b"]


async def test_a_no_with_a_reason_is_told_to_the_model(terminal: Terminal) -> None:
    terminal.model.says(calls=[("delete", {"path": "a"})]).then("As you like.")
    shown = await terminal.types("delete it", "n I need it")
    assert "[denied] A human denied this call. Reason: I need it" in shown
    assert shown.endswith("As you like.\n")
    assert terminal.deleted == []


async def test_what_waits_at_the_end_is_asked_again_at_the_next_start(terminal: Terminal) -> None:
    terminal.model.says(calls=[("delete", {"path": "a"})])
    assert (await terminal.types("delete it")).endswith("(it goes on waiting)\n")
    terminal.model.says("Gone.")
    shown = await terminal.types("yes")
    assert shown.startswith("May I run delete?")
    assert shown.endswith("Gone.\n")


async def test_two_requests_are_asked_about_one_after_the_other(terminal: Terminal) -> None:
    terminal.model.says(calls=[("delete", {"path": "a"}), ("delete", {"path": "b"})]).then("Done.")
    shown = await terminal.types("delete both", "y", "n")
    assert shown.count("May I run delete?") == 2
    assert terminal.deleted == ["a"]


async def test_reset_forgets(terminal: Terminal) -> None:
    terminal.model.says("Hello Alice.").then("Who are you?")
    shown = await terminal.types("I am Alice", "/reset", "hello")
    assert "(begun anew; messages forgotten: 1)" in shown
    assert len(terminal.model.requests[1]["messages"]) == 1


async def test_help_tells_the_keys(terminal: Terminal) -> None:
    assert "Ctrl-D ends" in await terminal.types("/help")


async def test_a_failure_is_one_sentence_with_a_reference(terminal: Terminal) -> None:
    terminal.model.fails(503)
    shown = await terminal.types("hello")
    assert shown.startswith("The model service is busy or cannot be reached.")
    assert "(reference " in shown


async def test_a_file_that_a_tool_made_is_named(terminal: Terminal) -> None:
    terminal.model.says(calls=[("draw", {})]).then("There.")
    shown = await terminal.types("draw a cat")
    assert "(made: cat.png; it is kept, but not shown here)\n" in shown


async def test_a_failed_tool_is_shown(terminal: Terminal) -> None:
    terminal.model.says(calls=[("read", {"path": "a"})]).then("I cannot.")
    assert "[error] " in await terminal.types("read it")


async def test_a_busy_service_is_waited_for_and_told(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.model.fails(503).then("Here I am.")
    async with serve_model(terminal.model) as service:
        policy = RetryPolicy(max_attempts=2)
        patient = Provider(base_url=service.base_url, model="scripted", retry=policy)
        terminal.agent = Agent(provider=patient, session_manager=terminal.sessions)
        shown = await terminal.types("hello")
        await terminal.agent.close()
    assert shown.startswith("(the model service does not answer; I ask it again")
    assert "in 0 s" not in shown
    assert shown.endswith("Here I am.\n")


async def test_a_message_that_is_too_long_is_refused_and_the_next_answered(
    terminal: Terminal,
) -> None:
    terminal.model.says("Hello.")
    line = "x" * 1_000_001
    assert await _typed_through(terminal, line, "hello") == (
        "(a message has at most 1,000,000 characters)\nHello.\n"
    )


async def _typed_through(terminal: Terminal, *lines: str) -> str:
    """Type more than a pipe holds, while the console reads."""
    reading, writing = os.pipe()
    console = Console(terminal.agent, terminal.sessions, lines=Lines(reading))
    with os.fdopen(writing, "w") as keyboard:
        await asyncio.to_thread(keyboard.write, "\n".join(lines) + "\n")
        await asyncio.to_thread(keyboard.flush)
    await console.converse()
    os.close(reading)
    return terminal.output.readouterr().out


async def test_nothing_from_the_model_steers_the_terminal(terminal: Terminal) -> None:
    terminal.model.says("a\x1b[2Jb\rc\td")
    assert await terminal.types("hello") == "a[2Jbc\td\n"


# -- as a process ----------------------------------------------------------------------------------


@asynccontextmanager
async def chatting(
    model: ScriptedModel,
    folder: Path,
    stdin: int = asyncio.subprocess.PIPE,
    settings: commands.Settings = commands.NOTHING,
) -> AsyncIterator[asyncio.subprocess.Process]:
    async with serve_model(model) as service:
        here = {"OPENAI_BASE_URL": service.base_url, "OPENAI_MODEL": "scripted", **settings}
        async with commands.running("chat", in_=folder, settings=here, stdin=stdin) as process:
            yield process


async def test_a_conversation_goes_on_in_another_process(tmp_path: Path) -> None:
    model = ScriptedModel().says("Hello Alice.").then("You are Alice.")
    for line, answer in (("I am Alice", "Hello Alice.\n"), ("who am I?", "You are Alice.\n")):
        async with chatting(model, tmp_path) as process:
            assert await commands.ended(process, line) == commands.Ended(0, answer, "")
    assert [each["role"] for each in model.requests[1]["messages"]][1:] == [
        "user",
        "assistant",
        "user",
    ]


async def test_a_tool_that_needs_discord_is_said_to_be_missing(tmp_path: Path) -> None:
    model = ScriptedModel().says("Hello.")
    tools = {"TOOLS": "roll_dice,announce"}
    async with chatting(model, tmp_path, settings=tools) as process:
        end = await commands.ended(process, "hello")
    assert (end.status, end.out) == (0, "Hello.\n")
    assert "TOOLS: announce needs Discord, so there is none here" in end.err
    assert [each["function"]["name"] for each in model.requests[0]["tools"]] == ["roll_dice"]


async def test_ctrl_c_stops_the_answer_and_the_next_line_is_answered(tmp_path: Path) -> None:
    model = ScriptedModel()
    model.hangs(after="Let me")
    model.says("Four.")
    async with chatting(model, tmp_path) as process:
        assert process.stdin is not None
        process.stdin.write(b"two and two?\n")
        await commands.printed(process, "Let me")
        process.send_signal(signal.SIGINT)
        await commands.printed(process, "(stopped)")
        ended = await commands.ended(process, "again\n")
    assert (ended.status, ended.out.strip(), ended.err) == (0, "Four.", "")


@pytest.fixture
def keyboard() -> Iterator[tuple[int, int]]:
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)


async def test_at_a_terminal_it_prompts_and_ctrl_d_ends(
    tmp_path: Path, keyboard: tuple[int, int]
) -> None:
    ours, theirs = keyboard
    model = ScriptedModel().says("Hello.")
    async with chatting(model, tmp_path, stdin=theirs) as process:
        os.close(theirs)
        await commands.printed(process, "> ")
        process.send_signal(signal.SIGINT)
        await commands.printed(process, "Ctrl-D ends.\n> ")
        os.write(ours, b"hello\n")
        await commands.printed(process, "Hello.\n> ")
        os.write(ours, b"\x04")
        assert await commands.ended(process) == commands.Ended(0, "\n", "")


async def test_what_is_older_can_be_summarised(terminal: Terminal) -> None:
    terminal.model.says("one").then("two").then("three").then("They counted.")
    shown = await terminal.types("1", "2", "3", "/compact", "/compact")
    assert shown.endswith("(messages summarised: 1)\n(messages summarised: 0)\n")
    terminal.model.says("four").fails(503)
    shown = await terminal.types("4", "/compact")
    assert "503" in shown
