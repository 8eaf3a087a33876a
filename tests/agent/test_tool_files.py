"""Files that tools make."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import (
    Attachment,
    File,
    InMemorySessionManager,
    SessionManager,
    SessionStore,
    ToolOutput,
    ToolResultEvent,
    ToolStatus,
    tool,
)
from bot.agent.history.visible import hides
from bot.agent.tools.outputs import MAX_BYTES, MAX_FILES, NAME_LENGTH, keep, safe_name
from bot.errors import StorageError
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent, events_of

PNG = b"\x89PNG and more"


@tool
def plot() -> ToolOutput:
    """Draw a chart."""
    return ToolOutput("a chart of nothing", files=[File("out/chart.png", PNG)])


@tool
async def pack() -> ToolOutput:
    """Pack a file, and say nothing."""
    return ToolOutput(files=[File("a.bin", b"a", "application/x-own")])


async def result_of(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager, *tools: object, name: str
) -> ToolResultEvent:
    model.says(calls=[(name, {})]).then("There.")
    await make_agent(tools=tools).run("draw", "s")
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    return result


async def test_files_are_kept_as_blobs_and_the_model_is_told(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    result = await result_of(make_agent, model, manager, plot, name="plot")
    told = model.requests[1]["messages"][-1]["content"]
    assert told == result.output
    assert result.status is ToolStatus.OK
    if isinstance(manager, SessionStore):
        sha256 = hashlib.sha256(PNG).hexdigest()
        kept = Attachment(sha256=sha256, media_type="image/png", name="chart.png")
        assert result.attachments == (kept,)
        assert await manager.get_blob(sha256) == PNG
        assert told == "a chart of nothing\n[The people here are shown the file chart.png.]"
    else:
        assert result.attachments == ()
        assert told.endswith("[Nobody is shown the file chart.png: files cannot be kept here.]")


async def test_a_result_without_text_says_that_it_is_done(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    result = await result_of(make_agent, model, manager, pack, name="pack")
    assert result.output.startswith("done\n")
    assert all(each.media_type == "application/x-own" for each in result.attachments)


async def test_what_cannot_be_shown_is_named_to_the_model() -> None:
    files = [File("empty", b""), File("large", bytes(MAX_BYTES + 1))]
    files += [File(f"{number}.txt", b"x") for number in range(MAX_FILES + 1)]
    told, kept = await keep(ToolOutput("So.", files), InMemorySessionManager())
    assert [each.name for each in kept] == [f"{number}.txt" for number in range(MAX_FILES)]
    assert "[Nobody is shown the file empty: it is empty.]" in told
    assert "[Nobody is shown the file large: it is too large.]" in told
    assert f"[Nobody is shown the file {MAX_FILES}.txt: one call may show {MAX_FILES}.]" in told


async def test_a_file_is_bytes_and_a_result_has_files() -> None:
    with pytest.raises(TypeError, match="bytes, not str"):
        File("a.txt", "text")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="of the class File"):
        ToolOutput("a", files=["a.txt"])  # type: ignore[list-item]


async def test_a_store_that_fails_leaves_the_outcome_unknown(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    class Full(InMemorySessionManager):
        is_full = True

        async def put_blob(self, data: bytes) -> str:
            if self.is_full:
                raise StorageError("the disk is full")
            return await super().put_blob(data)

    full = Full()
    agent = make_agent(tools=[plot], session_manager=full)
    model.says(calls=[("plot", {})]).then("I do not know.")
    with pytest.raises(StorageError):
        await agent.run("draw", "s")
    full.is_full = False
    await agent.resume("s")
    [result] = await events_of(full, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    assert result.status is ToolStatus.UNKNOWN


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("chart.png", "chart.png"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("../..", "file"),
        (".env", "env"),
        ("", "file"),
        ("my chart (1).png", "my_chart__1_.png"),
        ("exe\u202egnp.txt", "exegnp.txt"),
        ("a\n\x00b.txt", "ab.txt"),
        ("größe.csv", "größe.csv"),
        ("x" * 200 + ".tar", "x" * 76 + ".tar"),
    ],
)
def test_names_are_safe(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@given(st.text())
def test_any_name_is_made_safe_once(name: str) -> None:
    safe = safe_name(name)
    assert 0 < len(safe) <= NAME_LENGTH
    assert not any(hides(char) or char in "/\\ <>@`*" for char in safe)
    assert safe_name(safe) == safe
