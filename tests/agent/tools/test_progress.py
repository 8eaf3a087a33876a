"""A tool tells what it is at while it runs; people see it, and nothing of it is kept."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from bot import (
    AgentRun,
    Event,
    ExecutionContext,
    InMemorySessionManager,
    Session,
    SessionManager,
    ToolProgressEvent,
    ToolResultEvent,
    tool,
)
from bot.agent.tools.progress import KEPT, MAX_LENGTH, Progress
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent, events_of


@tool
async def bake(what: str, context: ExecutionContext) -> str:
    """Bake something."""
    context.progress(f"kneading the {what}")
    await asyncio.sleep(0)
    context.progress("in the\noven   now")
    return f"a {what}"


@tool
def bake_in_a_thread(what: str, context: ExecutionContext) -> str:
    """Bake something, elsewhere."""
    context.progress(f"kneading the {what}")
    context.progress("in the oven now")
    return f"a {what}"


async def told(run: AgentRun) -> list[Event]:
    return [event async for event in run]


def texts(events: Sequence[Event]) -> list[str]:
    return [each.text for each in events if isinstance(each, ToolProgressEvent)]


@pytest.mark.parametrize("used", [bake, bake_in_a_thread])
async def test_progress_is_streamed_in_order_and_before_the_result(
    make_agent: MakeAgent, model: ScriptedModel, used: object, manager: SessionManager
) -> None:
    name = getattr(used, "name", "")
    model.says(calls=[(name, {"what": "cake"})]).then("done")
    events = await told(make_agent(tools=[used]).run("go", session_id="s"))
    assert texts(events) == ["kneading the cake", "in the oven now"]
    [first, *_] = [each for each in events if isinstance(each, ToolProgressEvent)]
    [result] = [each for each in events if isinstance(each, ToolResultEvent)]
    assert (first.tool, first.call_id, first.turn_id) == (name, result.call_id, result.turn_id)
    assert events.index(first) < events.index(result)
    assert result.output == "a cake"
    assert all("kneading" not in repr(each) for each in await events_of(manager, "s"))


async def test_progress_is_seen_while_the_tool_is_still_at_work(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    go_on = threading.Event()

    @tool
    def wait(context: ExecutionContext) -> str:
        context.progress("waiting")
        go_on.wait(30)
        context.progress("going on")
        return "done"

    model.says(calls=[("wait", {})]).then("done")
    seen = []
    async for event in make_agent(tools=[wait]).run("go", session_id="s"):
        seen.append(event)
        if texts([event]) == ["waiting"]:
            go_on.set()
    assert texts(seen) == ["waiting", "going on"]


async def test_of_very_much_progress_the_last_is_told_and_each_is_one_short_line() -> None:
    progress = Progress()
    for number in range(10_000):
        progress.tell("turn", "call", "t", f"{number}\n" + "x" * 10_000)
    progress.tell("turn", "call", "t", " \n ")
    events = progress.taken()
    assert len(events) == KEPT
    assert events[-1].text.startswith("9999 x")
    assert len(events[-1].text) == MAX_LENGTH
    assert progress.taken() == ()


def test_progress_for_a_loop_that_has_closed_is_nobodys() -> None:
    async def made() -> Progress:
        return Progress()

    progress = asyncio.run(made())
    progress.tell("turn", "call", "t", "anybody there?")
    assert len(progress.taken()) == 1


async def test_a_context_of_ones_own_hears_no_progress() -> None:
    context = ExecutionContext(session=Session("s"), session_manager=InMemorySessionManager())
    context.progress("nobody listens")
    output = await bake.invoke({"what": "cake"}, context)
    assert output.text == "a cake"
