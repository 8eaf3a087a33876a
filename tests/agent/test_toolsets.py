"""Tools that come and go, that take a schema in place of a signature, and who may approve them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot import (
    Approvers,
    AssistantMessageEvent,
    ExecutionContext,
    RecordedEvent,
    RunStatus,
    SessionManager,
    Tool,
    ToolOutcomeUnknownError,
    ToolResultEvent,
    ToolStatus,
    tool,
)
from bot.agent.arguments import parsed
from bot.errors import ToolError
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent, begun, events_of


@dataclass
class Shelf:
    """A source of tools that a test fills and empties."""

    names: list[str] = field(default_factory=list)
    approval: bool = False
    asked_with: list[set[str]] = field(default_factory=list)

    def tools(self, taken: Collection[str]) -> Mapping[str, Tool]:
        self.asked_with.append(set(taken))
        free = [name for name in self.names if name not in taken]
        return {name: self._made(name) for name in free}

    def _made(self, name: str) -> Tool:
        return Tool(lambda: f"{name} did it", name=name, approval=self.approval)


@tool
def own() -> str:
    """Be there from the start."""
    return "own did it"


def offered(request: Mapping[str, Any]) -> list[str]:
    return [each["function"]["name"] for each in request.get("tools", ())]


async def outputs(manager: SessionManager) -> list[str]:
    results = await events_of(manager, "s", ToolResultEvent)
    return [each.output for each in results if isinstance(each, ToolResultEvent)]


async def test_a_tool_that_comes_in_the_middle_of_a_turn_can_be_called_in_it(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    shelf = Shelf()

    @tool
    def fetch() -> str:
        shelf.names.append("hammer")
        return "here it is"

    model.says(calls=[("fetch", {})]).then(calls=[("hammer", {})]).then("done")
    await make_agent(tools=[fetch], toolsets=[shelf]).run("go", session_id="s")
    assert [offered(each) for each in model.requests] == [
        ["fetch"],
        ["fetch", "hammer"],
        ["fetch", "hammer"],
    ]
    assert await outputs(manager) == ["here it is", "hammer did it"]


async def test_names_that_are_taken_are_told_to_each_source_in_turn(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    first, second = Shelf(["own", "hammer"]), Shelf(["hammer", "saw"])
    model.says("hi")
    await make_agent(tools=[own], toolsets=[first, second]).run("go", session_id="s")
    assert offered(model.requests[0]) == ["own", "hammer", "saw"]
    assert first.asked_with[0] == {"own"}
    assert second.asked_with[0] == {"own", "hammer"}


async def test_a_request_for_a_tool_that_is_away_waits_for_it(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    shelf = Shelf(["hammer"], approval=True)
    agent = make_agent(toolsets=[shelf])
    model.says(calls=[("hammer", {})]).then("there")
    [request] = (await agent.run("go", session_id="s")).pending
    shelf.names.clear()
    with pytest.raises(ToolError, match="still waits"):
        await agent.approve("s", request.approval_id, by="bob")
    assert await agent.pending("s") == [request]
    shelf.names.append("hammer")
    assert (await agent.approve("s", request.approval_id, by="bob")).output == "there"
    assert await outputs(manager) == ["hammer did it"]


class Numbers:
    """Parameters that are no function's."""

    schema: Mapping[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
    context_names = ()

    def effective(self, written: str | Mapping[str, Any]) -> dict[str, Any]:
        return parsed(written) if isinstance(written, str) else dict(written)

    def bound(self, arguments: Mapping[str, Any], context: ExecutionContext) -> dict[str, Any]:
        return {"arguments": arguments, "user": context.user_id}


async def test_an_edit_to_no_arguments_is_what_runs_also_after_a_kill(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    begun, ran = asyncio.Event(), list[Any]()

    async def wipe(arguments: Mapping[str, Any], user: str) -> str:
        ran.append(arguments)
        if not begun.is_set():
            begun.set()
            await asyncio.Event().wait()
        return "done"

    accepts = Numbers()
    made = Tool(wipe, name="wipe", description="", approval=True, idempotent=True, accepts=accepts)  # type: ignore[arg-type]
    agent = make_agent(tools=[made])
    model.says(calls=[("wipe", {"n": 1})]).then("over")
    [request] = (await agent.run("go", session_id="s")).pending

    async def approves() -> None:
        await agent.approve("s", request.approval_id, by="bob", arguments={})

    run = asyncio.create_task(approves())
    await begun.wait()
    agent.suspend()
    run.cancel()
    await asyncio.wait([run])
    await agent.close()
    await make_agent(tools=[made]).resume("s")
    assert ran == [{}, {}]
    [output] = await outputs(manager)
    assert "ran with {}" in output


async def test_a_tool_may_take_what_a_schema_says(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    async def doubled(arguments: Mapping[str, Any], user: str) -> str:
        return f"{2 * arguments['n']} for {user}"

    double = Tool(doubled, name="double", description="Double it.", accepts=Numbers())  # type: ignore[arg-type]
    model.says(calls=[("double", {"n": 21})]).then("done")
    await make_agent(tools=[double]).run("go", session_id="s", user_id="alice")
    assert model.requests[0]["tools"][0]["function"] == {
        "name": "double",
        "description": "Double it.",
        "parameters": Numbers.schema,
    }
    assert await outputs(manager) == ["42 for alice"]


async def test_a_tool_may_say_that_its_outcome_is_unknown(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    @tool
    def send() -> str:
        raise ToolOutcomeUnknownError("The line went dead.")

    model.says(calls=[("send", {})]).then("who knows")
    result = await make_agent(tools=[send]).run("go", session_id="s")
    assert result.status is RunStatus.COMPLETED
    [event] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(event, ToolResultEvent)
    assert event.status is ToolStatus.UNKNOWN
    assert event.output.startswith("The line went dead. This call was started, and what came")


def test_who_may_approve_is_data_of_the_tool() -> None:
    approvers = Approvers(moderator=True, roles=frozenset({"12"}), two_person=True)
    decorate = tool(name="pay", approval=True, approvers=approvers)
    assert decorate(lambda: None).approvers == approvers
    assert own.approvers is None


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, "nobody could approve"),
        ({"requester": True, "two_person": True}, "cannot be the requester"),
        ({"roles": frozenset({""})}, "named by its id"),
        ({"roles": "12"}, "frozenset of ids"),
    ],
)
def test_approvers_that_make_no_sense_are_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises((TypeError, ValueError), match=told):
        Approvers(**wrong)


@dataclass
class LateShelf(Shelf):
    """A source of which the tools are there only once somebody waits for them, if at all."""

    comes: bool = True
    waited_for: list[str] = field(default_factory=list)

    async def arrived(self, name: str) -> None:
        self.waited_for.append(name)
        if self.comes:
            self.names.append(name)


@pytest.mark.parametrize("comes", [True, False])
async def test_an_approved_call_waits_for_its_tool_after_a_restart(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager, comes: bool
) -> None:
    shelf = Shelf(["hammer"], approval=True)
    model.says(calls=[("hammer", {})]).then("done")
    agent = make_agent(toolsets=[shelf])
    [request] = (await agent.run("go", session_id="s")).pending
    decision = aiter(agent.approve("s", request.approval_id, by="bob"))
    await anext(decision)
    agent.suspend()  # as a process that ends after the yes
    await decision.aclose()
    await agent.close()
    late = LateShelf(approval=True, comes=comes)
    after = make_agent(toolsets=[Shelf(), late])
    assert (await after.resume("s")).output == "done"
    assert late.waited_for == ["hammer"]
    none = "There is no tool 'hammer' now; nothing was done."
    assert await outputs(manager) == ["hammer did it" if comes else none]


async def test_who_waits_for_a_tool_can_be_stopped(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    waiting = asyncio.Event()

    class NeverThere(Shelf):
        async def arrived(self, name: str) -> None:
            waiting.set()
            await asyncio.Event().wait()

    shelf = Shelf(["hammer"])
    model.says(calls=[("hammer", {})])
    agent = make_agent(toolsets=[shelf, NeverThere()])

    def gone(session_id: str, events: Sequence[RecordedEvent]) -> None:
        if any(isinstance(event, AssistantMessageEvent) for event in events):
            shelf.names.clear()

    agent.watch(gone)
    run = await begun(agent.run("go", session_id="s"))
    await waiting.wait()
    assert await agent.stop("s", by="bob")
    assert (await run).status is RunStatus.STOPPED
