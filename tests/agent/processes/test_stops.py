"""A stop that another process has asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from bot import (
    Agent,
    AssistantMessageEvent,
    RecordedEvent,
    RunStatus,
    StopRequestedEvent,
    ToolResultEvent,
    ToolStartedEvent,
    ToolStatus,
    TurnEndedEvent,
    tool,
)
from bot.agent.loop import heeding
from bot.sandbox.model import ScriptedModel
from bot.sessions import SQLSessionManager
from bot.sessions.database.holders import AdvisoryHolders
from tests.agent.conftest import MakeAgent, begun, events_of
from tests.agent.processes.conftest import MakeOther


async def test_a_stop_by_another_process_is_found_at_the_next_save(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    assert await make_other().stop("s", by="mod")
    gate.release()
    assert (await run).status is RunStatus.STOPPED


@pytest.mark.parametrize("address", ["postgres"], indirect=True)
async def test_a_run_hears_at_once_of_a_stop_by_another_process(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(heeding, "HEED_EVERY", 3600.0)
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    assert await make_other().stop("s", by="mod")
    assert (await run).status is RunStatus.STOPPED


@pytest.mark.usefixtures("attentive")
async def test_a_stop_by_another_process_ends_a_stream_that_says_nothing(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    gate = model.pauses("half", "rest")
    agent = make_agent()
    heard: list[str] = []
    agent.watch(lambda session_id, events: heard.append(session_id))
    run = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    before = len(heard)
    assert await make_other().stop("s", by="mod")
    assert (await run).status is RunStatus.STOPPED
    assert len(heard) > before  # so that what was recorded elsewhere is shown
    model.says("here")
    assert (await agent.run("two", session_id="s")).output == "here"


@pytest.mark.usefixtures("attentive")
@pytest.mark.parametrize("address", ["postgres"], indirect=True)
async def test_a_stop_of_which_nothing_is_heard_is_found_all_the_same(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(AdvisoryHolders, "tell_others", lambda *_: None)
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    assert await make_other().stop("s", by="mod")
    assert (await run).status is RunStatus.STOPPED


@pytest.mark.usefixtures("attentive")
@pytest.mark.parametrize("how", ["stop", "reset", "end"])
async def test_what_was_shown_is_recorded_whichever_process_ends_its_turn(
    how: str,
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    manager: SQLSessionManager,
) -> None:
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    other = make_other()
    if how == "stop":
        assert await other.stop("s", by="mod")
    elif how == "reset":
        await other.reset("s", by="mod")
    else:
        assert await other.end("s", None, by="mod")
    assert (await run).status is RunStatus.STOPPED
    [asked, shown, end] = await ending_of(manager)
    assert isinstance(asked, StopRequestedEvent)
    assert isinstance(shown, AssistantMessageEvent)
    assert (shown.text, shown.interrupted) == ("half", True)
    assert isinstance(end, TurnEndedEvent)


@pytest.mark.usefixtures("heedless")
async def test_an_answer_that_is_complete_when_another_process_has_stopped_it_is_a_cut_one(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel, manager: SQLSessionManager
) -> None:
    """The stop was recorded first; the run has not looked yet."""
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    other = make_other()
    asked = requests(other)
    stop = asyncio.create_task(other.stop("s", by="mod"))
    await asked.wait()
    gate.release()
    assert (await run).status is RunStatus.STOPPED
    assert await stop
    [_, shown, end] = await ending_of(manager)
    assert isinstance(shown, AssistantMessageEvent)
    assert (shown.text, shown.interrupted) == ("halfrest", True)
    assert isinstance(end, TurnEndedEvent)


@pytest.mark.usefixtures("heedless")
async def test_no_tool_starts_once_another_process_has_stopped_the_turn(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel, manager: SQLSessionManager
) -> None:
    """The second call waits for a human, who says yes after the stop."""
    working, go = asyncio.Event(), asyncio.Event()

    @tool(approval=True)
    def pay() -> str:
        return "never"

    async def slow() -> str:
        working.set()
        await go.wait()
        return "slow"

    model.says(calls=[("pay", {}), ("slow", {})])
    run = await begun(make_agent(tools=[pay, slow]).run("go", session_id="s"))
    await working.wait()
    other = make_other(tools=[pay, slow])
    [request] = await other.pending("s")
    asked = requests(other)
    stop = asyncio.create_task(other.stop("s", by="mod"))
    await asked.wait()
    await other.approve("s", request.approval_id, by="mod")
    go.set()
    assert (await run).status is RunStatus.STOPPED
    assert await stop
    [start] = await events_of(manager, "s", ToolStartedEvent)
    results = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(start, ToolStartedEvent)
    assert [each.status for each in results if isinstance(each, ToolResultEvent)] == [
        ToolStatus.OK,
        ToolStatus.CANCELLED,
    ]


@pytest.mark.usefixtures("heedless")
async def test_a_stop_is_carried_out_by_whoever_goes_on_if_both_processes_end(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel, manager: SQLSessionManager
) -> None:
    gate = model.pauses("half", "rest")
    agent, other = make_agent(), make_other()
    run = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    asked = requests(other)
    stop = asyncio.create_task(other.stop("s", by="mod"))
    await asked.wait()
    for each, ended in ((agent, run), (other, stop)):
        each.suspend()
        ended.cancel()
        await asyncio.wait([ended])
        await each.close()
    assert (await make_other().resume("s")).status is RunStatus.STOPPED
    assert len(model.requests) == 1
    assert [type(each) for each in await ending_of(manager)] == [
        StopRequestedEvent,
        TurnEndedEvent,
    ]


def requests(agent: Agent) -> asyncio.Event:
    """Return what is set once an agent has asked that a turn be ended."""
    asked = asyncio.Event()

    def note(session_id: str, events: Sequence[RecordedEvent]) -> None:
        if any(isinstance(event, StopRequestedEvent) for event in events):
            asked.set()

    agent.watch(note)
    return asked


async def ending_of(manager: SQLSessionManager) -> list[RecordedEvent]:
    """Return what was recorded of the first turn after its message, before any reset."""
    log = await manager.read_log("s")
    return [event for event in log[1:] if event.turn_id == log[0].turn_id]
