"""What comes to one process and is another's to answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

import pytest

from bot import (
    AssistantMessageEvent,
    RecordedEvent,
    RunStatus,
    TextChunkEvent,
    ToolResultEvent,
    ToolStartedEvent,
    ToolStatus,
    TurnEndedEvent,
    tool,
)
from bot.sandbox.model import ScriptedModel
from bot.sessions import SQLSessionManager
from tests.agent.conftest import MakeAgent, begun, events_of, roles
from tests.agent.processes.conftest import MakeOther


async def test_a_message_to_a_session_that_another_process_runs_is_answered_by_that_one(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    manager: SQLSessionManager,
) -> None:
    gate = model.pauses("", "first")
    model.says("second")
    agent = make_agent()
    mine = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    theirs = await make_other().run("two", session_id="s")
    assert theirs.status is RunStatus.HANDED_OVER
    answered = asyncio.Event()
    agent.watch(lambda *_: answered.set() if len(model.requests) == 2 else None)
    gate.release()
    assert (await mine).final_text == "first"
    await answered.wait()
    session = await manager.get("s")
    assert session is not None
    last = session.events[-1]
    assert isinstance(last, AssistantMessageEvent)
    assert last.text == "second"
    assert roles(model.requests[-1]) == "u,a,u"
    model.says("third")
    assert (await make_other().run("three", session_id="s")).output == "third"


async def test_a_message_that_another_process_left_to_a_run_is_answered_though_its_reader_leaves(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    manager: SQLSessionManager,
) -> None:
    gate = model.pauses("first", "rest")
    agent, answered = make_agent(), asyncio.Event()
    events = aiter(agent.run("one", session_id="s"))
    async with aclosing(events):
        while not isinstance(await anext(events), TextChunkEvent):
            pass
        assert (await make_other().run("two", session_id="s")).status is RunStatus.HANDED_OVER
        model.says("second")
        agent.watch(lambda _, recorded: answered.set() if _answers(recorded, "second") else None)
    gate.release()
    async with asyncio.timeout(20):
        await answered.wait()
    standing = await manager.standing("s")
    assert standing is not None
    assert standing.holder is None


def _answers(recorded: Sequence[RecordedEvent], text: str) -> bool:
    return any(isinstance(e, AssistantMessageEvent) and e.text == text for e in recorded)


async def test_a_decision_of_another_process_is_followed_by_the_one_that_runs(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    manager: SQLSessionManager,
) -> None:
    working, go, paid = asyncio.Event(), asyncio.Event(), []

    async def slow() -> str:
        working.set()
        await go.wait()
        return "slow"

    @tool(approval=True)
    def pay() -> str:
        paid.append(1)
        return "paid"

    model.says(calls=[("pay", {}), ("slow", {})]).then("all done")
    agent, other = make_agent(tools=[pay, slow]), make_other(tools=[pay, slow])
    run = await begun(agent.run("go", session_id="s"))
    await working.wait()
    [request] = await other.pending("s")
    assert (await other.approve("s", request.approval_id, by="bob")).status is (
        RunStatus.HANDED_OVER
    )
    go.set()
    assert (await run).final_text == "all done"
    assert paid == [1]


@pytest.mark.usefixtures("attentive")
async def test_a_message_by_another_process_leaves_a_run_alone(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    gate = model.pauses("half", " and half")
    agent, seen = make_agent(), asyncio.Event()
    run = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    agent.watch(lambda session_id, events: seen.set())
    assert (await make_other().run("two", session_id="s")).status is RunStatus.HANDED_OVER
    await seen.wait()
    model.says("second")
    gate.release()
    assert (await run).final_text == "half and half"


async def test_what_a_dead_process_began_is_unknown_to_the_next(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    manager: SQLSessionManager,
) -> None:
    working = asyncio.Event()

    async def slow() -> str:
        working.set()
        await asyncio.Event().wait()
        return "never"

    model.says(calls=[("slow", {})]).then("I do not know what came of it")
    agent = make_agent(tools=[slow])
    run = await begun(agent.run("go", session_id="s"))
    await working.wait()
    agent.suspend()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    other = make_other(tools=[slow])
    assert (await other.resume("s")).status is RunStatus.HANDED_OVER
    await agent.close()
    assert (await other.resume("s")).output == "I do not know what came of it"
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    assert result.status is ToolStatus.UNKNOWN
    assert len(await events_of(manager, "s", ToolStartedEvent)) == 1
    assert not await events_of(manager, "s", TurnEndedEvent)


async def test_what_was_left_to_a_process_that_closes_is_answered_by_the_next(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    agent = make_agent()
    first = model.pauses("", "first")
    second = model.pauses("", "never")
    mine = await begun(agent.run("one", session_id="s"))
    await first.reached.wait()
    await make_other().run("two", session_id="s")
    first.release()
    await mine
    await second.reached.wait()
    await agent.close()
    model.says("second")
    assert (await make_other().resume("s")).output == "second"
