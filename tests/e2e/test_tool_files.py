"""Files that tools make, as people see them."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from bot.agent import File, Tool, ToolOutput, tool
from bot.sandbox import Message, Refusal
from tests.e2e.stage import Stage, Tools
from tests.e2e.test_recovery import forget_ids
from tests.setups import labels

LARGE = 10 * 1024 * 1024 + 1


@dataclass
class Drawing(Tools):
    """Tools that make files."""

    @property
    def all(self) -> Sequence[Tool]:
        @tool
        def draw(name: str, size: int = 3) -> ToolOutput:
            """Draw something."""
            return ToolOutput("drawn", [File(name, b"x" * size)])

        @tool
        def both() -> ToolOutput:
            """Make a small file and a large one."""
            return ToolOutput("made", [File("small.txt", b"x"), File("large.bin", bytes(LARGE))])

        return draw, both


def files(message: Message) -> list[tuple[str, int]]:
    return [(each.filename, len(each.data)) for each in message.attachments]


async def asks(stage: Stage, *calls: tuple[str, dict[str, object]]) -> None:
    stage.tools = Drawing()
    stage.model.says("Let me draw.", calls=calls).then("There.")
    await stage.alice.says("draw", in_=stage.desk)


async def test_a_file_is_a_message_of_its_own_before_the_answer(stage: Stage) -> None:
    stage.tools = Drawing()
    async with stage.running():
        await asks(stage, ("draw", {"name": "my cat.png"}))
        await stage.says(stage.desk, "There.")
    assert stage.said(stage.desk) == ["Let me draw.", "-# Made by `draw`", "There."]
    assert files(stage.desk.messages[2]) == [("my_cat.png", 3)]
    told = stage.asked[1][-1][1]
    assert told == "drawn\n[The people here are shown the file my_cat.png.]"


def is_told_of(messages: list[Message]) -> bool:
    """Return whether a line tells of a tool at work."""
    return any(each.content.startswith("-# Using") for each in messages)


@pytest.mark.parametrize("slow", [False, True], ids=["quick", "slow"])
async def test_files_come_before_the_answer_whatever_line_was_there(
    stage: Stage, slow: bool
) -> None:
    """The line that tells of a tool at work is taken away for it."""

    @tool
    async def chart() -> ToolOutput:
        """Draw a chart."""
        if slow:
            await stage.desk.until(is_told_of)
        return ToolOutput("drawn", [File("a.png", b"x" * 1_000_000)])

    stage.tools.more = (chart,)
    stage.model.says(calls=[("chart", {})]).then(calls=[("chart", {})]).then("There.")
    async with stage.running():
        await stage.alice.says("draw", in_=stage.desk)
        await stage.says(stage.desk, "There.")
    assert stage.said(stage.desk) == ["-# Made by `chart`", "-# Made by `chart`", "There."]
    assert [len(each.attachments) for each in stage.desk.messages] == [0, 1, 1, 0]
    assert labels(stage.desk.messages[1]) == []


@pytest.mark.parametrize("slow", [False, True], ids=["quick", "slow"])
async def test_where_files_may_not_be_attached_they_are_named_and_all_else_is_shown(
    stage: Stage, slow: bool
) -> None:
    @tool
    async def chart() -> ToolOutput:
        """Draw a chart."""
        if slow:
            await stage.desk.until(is_told_of)
        return ToolOutput("drawn", [File("a.png", b"x")])

    stage.tools.more = (chart,)
    long = "There: " + "word " * 4_000
    stage.model.says(calls=[("chart", {})]).then(long).then("Still here.")
    async with stage.running():
        stage.world.loses_permission(stage.bot, "ATTACH_FILES", in_=stage.desk)
        await stage.alice.says("draw", in_=stage.desk)
        await stage.says(stage.desk, "There:")
        await stage.alice.says("and?", in_=stage.desk)
        await stage.says(stage.desk, "Still here.")
    made, *answer, last = stage.said(stage.desk)
    assert made == "-# Made by `chart`\n(I may not attach files here: a.png.)"
    assert answer[0].startswith("There:")
    assert answer[-1].endswith("(I may not attach files here: answer.md.)")
    assert last == "Still here."
    assert not [each for each in stage.said(stage.desk) if "Using" in each or "Stop" in each]


async def test_what_is_too_large_here_is_named_and_the_rest_is_shown(stage: Stage) -> None:
    stage.tools = Drawing()
    async with stage.running():
        await asks(stage, ("both", {}))
        await stage.says(stage.desk, "There.")
    made = stage.desk.messages[2]
    assert made.content == "-# Made by `both`\n(Too large for Discord: large.bin.)"
    assert files(made) == [("small.txt", 1)]


async def test_a_server_that_takes_less_than_thought_gets_a_note(stage: Stage) -> None:
    stage.tools = Drawing()
    async with stage.running():
        stage.model.says(calls=[("draw", {"name": "cat.png"})]).then("There.")
        stage.world.faults.next_send(in_=stage.desk, fails=Refusal.TOO_LARGE)
        await stage.alice.says("draw", in_=stage.desk)
        await stage.says(stage.desk, "There.")
    assert stage.said(stage.desk)[0] == "-# Made by `draw`\n(Too large for Discord: cat.png.)"


async def test_files_whose_ids_were_lost_are_found_again(stage: Stage) -> None:
    stage.tools = Drawing()
    async with stage.running():
        await asks(
            stage,
            ("draw", {"name": "cat.png"}),
            ("draw", {"name": "cat.png"}),
            ("draw", {"name": "dog.png", "size": 4}),
            ("both", {}),
        )
        await stage.says(stage.desk, "There.")
    before = [each.id for each in stage.desk.messages]
    assert len(before) == 7
    forget_ids(stage)
    stage.model.says("Still here.")
    async with stage.running():
        await stage.alice.says("and?", in_=stage.desk)
        await stage.says(stage.desk, "Still here.")
    assert [each.id for each in stage.desk.messages][:7] == before
    assert len(stage.desk.messages) == 9
