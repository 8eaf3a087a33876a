"""What is kept of calls, of whatever kind the session manager is."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from bot import (
    Agent,
    ExecutionContext,
    RunStatus,
    SessionManager,
    ToolError,
    ToolResultEvent,
    ToolStartedEvent,
    ToolStatus,
    TurnFailedError,
    tool,
)
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent, events_of, roles
from tests.agent.tools.conftest import add, result_of


async def test_the_context_is_injected_and_state_is_saved(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    def note(text: str, context: ExecutionContext) -> str:
        context.session.state["note"] = text
        return f"{context.user_id} {context.call_id[:4]}"

    agent = make_agent(tools=[note])
    model.says(calls=[("note", {"text": "milk"})]).then("noted")
    await agent.run("note milk", session_id="s", user_id="alice")
    assert model.requests[1]["messages"][-1]["content"] == "alice call"
    session = await manager.get("s")
    assert session is not None
    assert session.state["note"] == "milk"


async def test_a_tool_that_leaves_state_that_is_not_json_is_told_and_the_session_goes_on(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    def note(context: ExecutionContext, bad: bool) -> str:
        notes = context.session.state.setdefault("notes", [])
        notes.append(datetime.now(UTC) if bad else "fine")
        return "noted"

    agent = make_agent(tools=[note])
    model.says(calls=[("note", {"bad": False})]).says(calls=[("note", {"bad": True})])
    model.then("sorry").then("still here")
    result = await agent.run("go", session_id="s")
    assert result.output == "sorry"
    outputs = [m["content"] for m in model.requests[2]["messages"] if m["role"] == "tool"]
    assert outputs[0] == "noted"
    assert "notes" in outputs[1]
    assert (await agent.run("ok?", session_id="s")).output == "still here"
    session = await manager.get("s")
    assert session is not None
    assert session.state["notes"] == ["fine"]


async def test_half_a_character_in_a_result_does_not_end_the_conversation(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    def names() -> list[str]:
        return ["half \udc80 a pair"]

    assert (await result_of(make_agent, model, names, {})).status is ToolStatus.OK
    assert "half ? a pair" in model.requests[1]["messages"][-1]["content"]


async def test_arguments_too_deep_to_be_shown_are_told(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    def keep(value: Any) -> str:
        return "kept"

    deep = '{"value": ' + "[" * 400 + "]" * 400 + "}"
    result = await result_of(make_agent, model, keep, deep)
    assert result.status is ToolStatus.ERROR
    assert "Invalid arguments" in result.output


async def test_five_megabytes_are_cut_and_the_cut_is_told(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    def huge() -> str:
        return "x" * 5_000_000

    result = await result_of(make_agent, model, huge, {})
    assert result.status is ToolStatus.OK
    assert len(result.output) < 101_000
    assert "5,000,000" in result.output


async def test_stop_in_the_middle_of_a_tool_and_the_next_message_works(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def endless() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    agent = make_agent(tools=[endless])
    model.says(calls=[("endless", {})]).then("fine")
    run = asyncio.ensure_future(_run(agent, "go"))
    await begun.wait()
    assert await agent.stop("s", by="alice")
    assert await run is RunStatus.STOPPED
    assert cancelled.is_set()
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    assert result.status is ToolStatus.UNKNOWN
    assert (await agent.run("ok?", session_id="s")).output == "fine"
    assert roles(model.requests[-1]) == "u,a,t,u"


async def _run(agent: Agent, text: str) -> RunStatus:
    return (await agent.run(text, session_id="s")).status


async def test_a_late_result_of_a_stopped_sync_tool_is_dropped(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    loop = asyncio.get_running_loop()
    begun, ended, release = asyncio.Event(), asyncio.Event(), threading.Event()

    def slow() -> str:
        loop.call_soon_threadsafe(begun.set)
        release.wait(30)
        loop.call_soon_threadsafe(ended.set)
        return "late"

    agent = make_agent(tools=[slow])
    model.says(calls=[("slow", {})])
    run = asyncio.ensure_future(_run(agent, "go"))
    await begun.wait()
    await agent.stop("s", by="alice")
    await run
    release.set()
    await ended.wait()
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    assert result.status is ToolStatus.UNKNOWN


async def test_the_same_failing_call_over_and_over_is_told_and_then_capped(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    ran: list[int] = []

    def broken(a: int) -> None:
        ran.append(a)
        raise ToolError("no")

    agent = make_agent(tools=[broken], max_steps=5)
    for _ in range(5):
        model.says(calls=[("broken", {"a": 1})])
    with pytest.raises(TurnFailedError, match="steps"):
        await agent.run("go", session_id="s")
    results = await events_of(manager, "s", ToolResultEvent)
    assert len(results) == 5
    assert ran == [1, 1, 1]


async def test_a_service_that_repeats_its_call_ids_does_no_harm(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    model.repeats_ids = True
    agent = make_agent(tools=[add])
    model.says(calls=[("add", {"a": 1})]).says(calls=[("add", {"a": 5})]).then("2 and 6")
    await agent.run("go", session_id="s")
    tools = [m for m in model.requests[-1]["messages"] if m["role"] == "tool"]
    assert [m["content"] for m in tools] == ["2", "6"]
    assert len({m["tool_call_id"] for m in tools}) == 2


@pytest.mark.parametrize(("idempotent", "runs"), [(False, 0), (True, 1)])
async def test_a_started_call_without_a_result_is_unknown_unless_idempotent(
    make_agent: MakeAgent,
    model: ScriptedModel,
    manager: SessionManager,
    idempotent: bool,
    runs: int,
) -> None:
    ran: list[int] = []
    begun = asyncio.Event()

    async def effect() -> str:
        begun.set()
        if not ran and not model.requests[1:]:
            await asyncio.Event().wait()
        ran.append(1)
        return "done"

    made = tool(idempotent=idempotent)(effect)
    agent = make_agent(tools=[made])
    model.says(calls=[("effect", {})])
    run = asyncio.ensure_future(_run(agent, "go"))
    await begun.wait()
    agent.suspend()
    run.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await run
    await agent.close()
    model.requests.append({})  # the next process: the tool does not hang again
    model.says("over")
    await make_agent(tools=[made]).resume("s")
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    assert result.status is (ToolStatus.OK if idempotent else ToolStatus.UNKNOWN)
    assert len(ran) == runs
    assert len(await events_of(manager, "s", ToolStartedEvent)) == 1
