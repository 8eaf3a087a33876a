"""A tool's check: asked before anybody is asked about a call, and again before it starts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from bot import (
    Agent,
    ApprovalRequestedEvent,
    ExecutionContext,
    RunStatus,
    SessionManager,
    Tool,
    ToolError,
    ToolResultEvent,
    ToolStartedEvent,
    ToolStatus,
    tool,
)
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent, begun, events_of

OPEN = ("open_door", {"door": "cellar"})


class Doorman:
    """Says who may have a door opened, and remembers who asked and what was opened."""

    def __init__(self) -> None:
        self.asked: list[tuple[str | None, str]] = []
        self.opened: list[str] = []
        self.answer: Callable[[], Awaitable[None]] = self._yes

    @staticmethod
    async def _yes() -> None:
        return None

    @staticmethod
    async def no() -> None:
        raise ToolError("You have no key.")

    async def check(self, arguments: Mapping[str, Any], context: ExecutionContext) -> None:
        self.asked.append((context.user_id, arguments["door"]))
        await self.answer()

    def door(self, **options: Any) -> Tool:
        @tool(check=self.check, **options)
        def open_door(door: str, wide: bool = False) -> str:
            self.opened.append(door)
            return "open"

        return open_door


@pytest.fixture
def doorman() -> Doorman:
    return Doorman()


@pytest.fixture
def agent(make_agent: MakeAgent, doorman: Doorman) -> Agent:
    return make_agent(tools=[doorman.door(approval=True)])


async def the_result(manager: SessionManager) -> ToolResultEvent:
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    return result


async def test_nobody_is_asked_about_what_may_not_be_done(
    agent: Agent, model: ScriptedModel, manager: SessionManager, doorman: Doorman
) -> None:
    doorman.answer = doorman.no
    model.says(calls=[OPEN]).then("No key.")
    result = await agent.run("open", session_id="s", user_id="alice")
    assert result.output == "No key."
    assert doorman.asked == [("alice", "cellar")]
    assert await events_of(manager, "s", ApprovalRequestedEvent, ToolStartedEvent) == []
    told = await the_result(manager)
    assert (told.status, told.output) == (ToolStatus.ERROR, "You have no key.")


async def test_the_check_is_asked_again_before_an_approved_call_starts(
    agent: Agent, model: ScriptedModel, manager: SessionManager, doorman: Doorman
) -> None:
    model.says(calls=[OPEN]).then("Open.")
    paused = await agent.run("open", session_id="s", user_id="alice")
    await agent.approve("s", paused.pending[0].approval_id, by="mod")
    assert doorman.asked == [("alice", "cellar")] * 2
    assert doorman.opened == ["cellar"]
    assert (await the_result(manager)).status is ToolStatus.OK


async def test_what_may_no_longer_be_done_does_not_start_though_it_was_approved(
    agent: Agent, model: ScriptedModel, manager: SessionManager, doorman: Doorman
) -> None:
    model.says(calls=[OPEN]).then("No key any more.")
    paused = await agent.run("open", session_id="s", user_id="alice")
    doorman.answer = doorman.no
    await agent.approve("s", paused.pending[0].approval_id, by="mod")
    assert doorman.opened == []
    assert await events_of(manager, "s", ToolStartedEvent) == []
    assert (await the_result(manager)).output == "You have no key."


async def test_an_edit_is_what_is_checked(
    agent: Agent, model: ScriptedModel, doorman: Doorman
) -> None:
    model.says(calls=[OPEN]).then("Open.")
    paused = await agent.run("open", session_id="s", user_id="alice")
    approval_id = paused.pending[0].approval_id
    await agent.approve("s", approval_id, by="mod", arguments={"door": "attic"})
    assert doorman.asked == [("alice", "cellar"), ("alice", "attic")]
    assert doorman.opened == ["attic"]


async def test_a_free_call_is_checked_once_before_it_starts(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager, doorman: Doorman
) -> None:
    agent = make_agent(tools=[doorman.door()])
    model.says(calls=[OPEN]).then("Open.")
    await agent.run("open", session_id="s", user_id="alice")
    assert doorman.asked == [("alice", "cellar")]
    assert doorman.opened == ["cellar"]


async def test_a_call_that_became_gated_is_checked_before_anybody_is_asked(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager, doorman: Doorman
) -> None:
    gates = iter([False, False, True, True])
    agent = make_agent(tools=[doorman.door(approval=lambda arguments: next(gates))])
    doorman.answer = doorman.no
    model.says(calls=[OPEN]).then("No.")
    await agent.run("open", session_id="s", user_id="alice")
    assert await events_of(manager, "s", ApprovalRequestedEvent, ToolStartedEvent) == []
    assert (await the_result(manager)).output == "You have no key."


async def test_one_refused_call_does_not_keep_the_others_back(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager, doorman: Doorman
) -> None:
    @tool
    def ring() -> str:
        return "ding"

    agent = make_agent(tools=[doorman.door(approval=True), ring])
    doorman.answer = doorman.no
    wrong = ("open_door", {"gate": "cellar"})
    model.says(calls=[OPEN, ("ring", {}), wrong, ("fly", {})]).then("Rang.")
    await agent.run("open and ring", session_id="s", user_id="alice")
    results = await events_of(manager, "s", ToolResultEvent)
    outputs = {e.output for e in results if isinstance(e, ToolResultEvent)}
    assert {"You have no key.", "ding"} < outputs
    assert len(doorman.asked) == 1


async def test_a_check_without_an_answer_is_a_no(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager, doorman: Doorman
) -> None:
    agent = make_agent(tools=[doorman.door(approval=True, timeout=0.05)])

    async def never() -> None:
        await asyncio.Event().wait()

    doorman.answer = never
    model.says(calls=[OPEN]).then("Nobody knows.")
    await agent.run("open", session_id="s", user_id="alice")
    assert await events_of(manager, "s", ApprovalRequestedEvent) == []
    assert "could not be checked within 0.05 s" in (await the_result(manager)).output


@pytest.mark.parametrize("error", [OSError("secret"), TimeoutError(), asyncio.CancelledError()])
async def test_a_check_that_fails_is_a_no_and_the_log_says_why(
    agent: Agent,
    model: ScriptedModel,
    manager: SessionManager,
    doorman: Doorman,
    error: BaseException,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken() -> None:
        raise error

    doorman.answer = broken
    model.says(calls=[OPEN]).then("Nobody knows.")
    result = await agent.run("open", session_id="s", user_id="alice")
    assert result.status is RunStatus.COMPLETED
    output = (await the_result(manager)).output
    assert "could not be checked (reference" in output
    assert "secret" not in output
    assert "the check of tool open_door" in caplog.text


@pytest.mark.parametrize("gated", [True, False])
async def test_who_stops_a_turn_does_not_wait_for_its_check(
    make_agent: MakeAgent,
    model: ScriptedModel,
    manager: SessionManager,
    doorman: Doorman,
    gated: bool,
) -> None:
    agent = make_agent(tools=[doorman.door(approval=gated)])
    asked = asyncio.Event()

    async def never() -> None:
        asked.set()
        await asyncio.Event().wait()

    doorman.answer = never
    model.says("Let me see.", calls=[OPEN]).then("Hello.")
    run = await begun(agent.run("open", session_id="s", user_id="alice"))
    await asked.wait()
    assert await agent.stop("s", by="alice")
    assert (await run).status is RunStatus.STOPPED
    assert await events_of(manager, "s", ApprovalRequestedEvent, ToolStartedEvent) == []
    assert (await agent.run("hi", session_id="s", user_id="alice")).output == "Hello."


async def test_a_reader_who_leaves_during_a_check_ends_the_turn(
    agent: Agent, model: ScriptedModel, manager: SessionManager, doorman: Doorman
) -> None:
    asked = asyncio.Event()

    async def never() -> None:
        asked.set()
        await asyncio.Event().wait()

    doorman.answer = never
    model.says(calls=[OPEN])
    run = await begun(agent.run("open", session_id="s", user_id="alice"))
    await asked.wait()
    run.cancel()
    await asyncio.wait([run])
    session = await manager.get("s")
    assert session is not None
    assert not session.open_turns
    assert await events_of(manager, "s", ApprovalRequestedEvent) == []


async def test_a_check_that_always_says_no_is_capped_like_any_failure(
    agent: Agent, model: ScriptedModel, manager: SessionManager, doorman: Doorman
) -> None:
    doorman.answer = doorman.no
    for _ in range(4):
        model.says(calls=[OPEN])
    model.then("I give up.")
    await agent.run("open", session_id="s", user_id="alice")
    outputs = [
        e.output
        for e in await events_of(manager, "s", ToolResultEvent)
        if isinstance(e, ToolResultEvent)
    ]
    assert outputs[:3] == ["You have no key."] * 3
    assert "has failed 3 times" in outputs[3]


def test_a_tool_can_say_in_a_sentence_what_a_call_will_do() -> None:
    @tool(sentence=lambda arguments: f"Open the {arguments['door']}.")
    def open_door(door: str) -> None: ...

    assert open_door.sentence is not None
    assert open_door.sentence({"door": "cellar"}) == "Open the cellar."
