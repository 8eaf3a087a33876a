from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from bot import (
    Actor,
    Agent,
    AgentResult,
    ApprovalDecidedError,
    ApprovalDecidedEvent,
    ApprovalNotFoundError,
    ApprovalRefusedError,
    ApprovalRequestedEvent,
    Decision,
    DoneEvent,
    RunStatus,
    Session,
    SessionManager,
    SessionStore,
    Tool,
    ToolError,
    ToolResultEvent,
    ToolStartedEvent,
    ToolStatus,
    TurnEndedEvent,
    UserMessageEvent,
    tool,
)
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent, begun, events_of, roles
from tests.clocks import movable


class Shop:
    """Sells things, and remembers what it sold."""

    def __init__(self) -> None:
        self.sold: list[str] = []

    def tools(self) -> list[Tool]:
        @tool(approval=True)
        def buy(thing: str, count: int = 1) -> str:
            self.sold += [thing] * count
            return f"bought {count} {thing}"

        @tool
        def price(thing: str) -> str:
            return f"{thing} costs 5"

        return [buy, price]


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def agent(make_agent: MakeAgent, shop: Shop) -> Agent:
    return make_agent(tools=shop.tools())


BUY = ("buy", {"thing": "tea", "count": "2"})


async def paused(agent: Agent, model: ScriptedModel, *calls: Any) -> AgentResult:
    model.says(calls=list(calls) or [BUY])
    result = await agent.run("buy tea", session_id="s", user_id="alice")
    assert result.status is RunStatus.AWAITING_APPROVAL
    return result


async def test_a_gated_call_waits_with_its_effective_arguments_and_runs_when_approved(
    agent: Agent, model: ScriptedModel, shop: Shop
) -> None:
    [request] = (await paused(agent, model)).pending
    assert request.arguments == {"thing": "tea", "count": 2}
    assert request.requested_by == "alice"
    assert shop.sold == []
    model.says("enjoy")
    result = await agent.approve("s", request.approval_id, by="bob", note="ok")
    assert (result.status, result.output) == (RunStatus.COMPLETED, "enjoy")
    assert shop.sold == ["tea", "tea"]
    assert roles(model.requests[-1]) == "u,a,t"


async def test_a_denied_call_never_starts_and_the_model_hears_why(
    agent: Agent, model: ScriptedModel, manager: SessionManager, shop: Shop
) -> None:
    [request] = (await paused(agent, model)).pending
    model.says("all right")
    await agent.deny("s", request.approval_id, by="bob", reason="too dear")
    assert not await events_of(manager, "s", ToolStartedEvent)
    assert "too dear" in model.requests[-1]["messages"][-1]["content"]
    assert shop.sold == []


async def test_an_identical_call_after_a_denial_is_denied_without_asking_until_the_next_turn(
    agent: Agent, model: ScriptedModel
) -> None:
    [request] = (await paused(agent, model)).pending
    model.says(calls=[BUY]).then("sorry")
    result = await agent.deny("s", request.approval_id, by="bob")
    assert result.output == "sorry"
    assert len((await paused(agent, model)).pending) == 1


async def test_a_free_call_beside_a_gated_one_keeps_its_result_over_the_pause(
    agent: Agent, model: ScriptedModel, shop: Shop
) -> None:
    [request] = (await paused(agent, model, BUY, ("price", {"thing": "tea"}))).pending
    model.says("here")
    await agent.approve("s", request.approval_id, by="bob")
    outputs = [m["content"] for m in model.requests[-1]["messages"] if m["role"] == "tool"]
    assert outputs == ["bought 2 tea", "tea costs 5"]


async def test_each_of_two_calls_is_decided_alone(
    agent: Agent, model: ScriptedModel, shop: Shop
) -> None:
    calls = ("buy", {"thing": "tea"}), ("buy", {"thing": "milk"})
    tea, milk = (await paused(agent, model, *calls)).pending
    result = await agent.approve("s", milk.approval_id, by="bob")
    assert result.status is RunStatus.AWAITING_APPROVAL
    assert shop.sold == ["milk"]
    assert [request.approval_id for request in result.pending] == [tea.approval_id]
    model.says("done")
    await agent.deny("s", tea.approval_id, by="bob")
    assert shop.sold == ["milk"]


async def test_the_second_of_two_decisions_hears_who_and_when(
    agent: Agent, model: ScriptedModel, shop: Shop
) -> None:
    [request] = (await paused(agent, model)).pending
    model.says("enjoy")

    async def approve(by: str) -> AgentResult:
        return await agent.approve("s", request.approval_id, by=by)

    first, second = await asyncio.gather(approve("bob"), approve("eve"), return_exceptions=True)
    assert isinstance(first, AgentResult)
    assert isinstance(second, ApprovalDecidedError)
    assert second.by == "bob"
    assert second.decision == "approved"
    assert shop.sold == ["tea", "tea"]


async def test_unknown_and_foreign_approvals_are_not_found(
    agent: Agent, model: ScriptedModel, shop: Shop
) -> None:
    [request] = (await paused(agent, model)).pending
    model.says("hi")
    await agent.run("hello", session_id="other")
    for session_id, approval_id in [
        ("s", "approval-0"),
        ("other", request.approval_id),
        ("nowhere", request.approval_id),
    ]:
        with pytest.raises(ApprovalNotFoundError):
            await agent.approve(session_id, approval_id, by="bob")
    assert shop.sold == []


async def test_who_may_not_decide_is_refused_and_nothing_changes(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager, shop: Shop
) -> None:
    agent = make_agent(tools=shop.tools(), may_decide=lambda request, actor: actor.moderator)
    [request] = (await paused(agent, model)).pending
    before = await events_of(manager, "s")
    with pytest.raises(ApprovalRefusedError):
        await agent.approve("s", request.approval_id, by="alice")
    assert await events_of(manager, "s") == before
    model.says("enjoy")
    await agent.approve("s", request.approval_id, by=Actor(user_id="mod", moderator=True))
    assert shop.sold


async def test_the_requester_can_withdraw_and_nobody_else(
    make_agent: MakeAgent, model: ScriptedModel, shop: Shop
) -> None:
    agent = make_agent(tools=shop.tools(), may_decide=lambda request, actor: False)
    [request] = (await paused(agent, model)).pending
    with pytest.raises(ApprovalRefusedError):
        await agent.withdraw("s", request.approval_id, by="eve")
    model.says("never mind")
    result = await agent.withdraw("s", request.approval_id, by="alice")
    assert result.output == "never mind"
    assert shop.sold == []


async def test_an_edit_is_validated_and_is_what_runs(
    agent: Agent, model: ScriptedModel, manager: SessionManager, shop: Shop
) -> None:
    [request] = (await paused(agent, model)).pending
    with pytest.raises(ToolError, match="count"):
        await agent.approve("s", request.approval_id, by="bob", arguments={"count": "many"})
    model.says("enjoy")
    edit = {"thing": "water"}
    await agent.approve("s", request.approval_id, by="bob", arguments=edit)
    assert shop.sold == ["water"]
    [decided] = await events_of(manager, "s", ApprovalDecidedEvent)
    assert isinstance(decided, ApprovalDecidedEvent)
    assert decided.arguments == {"thing": "water", "count": 1}


async def test_a_message_while_waiting_is_recorded_told_and_answered_after_the_decision(
    agent: Agent, model: ScriptedModel, manager: SessionManager
) -> None:
    [request] = (await paused(agent, model)).pending
    waiting = await agent.run("are you there?", session_id="s")
    assert waiting.status is RunStatus.AWAITING_APPROVAL
    assert waiting.pending == [request]
    assert len(await events_of(manager, "s", UserMessageEvent)) == 2
    model.says("bought").then("yes, I am")
    result = await agent.approve("s", request.approval_id, by="bob")
    assert result.output == "yes, I am"
    assert [roles(r) for r in model.requests] == ["u", "u,a,t", "u,a,t,a,u"]


async def test_all_that_was_written_before_the_first_turn_began_to_wait_is_told_so(
    agent: Agent, model: ScriptedModel
) -> None:
    gate = model.pauses("", "", calls=[BUY])
    first = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    others = [await begun(agent.run(text, session_id="s")) for text in ("two", "three", "four")]
    gate.release()
    ends = await asyncio.gather(first, *others)
    assert {end.status for end in ends} == {RunStatus.AWAITING_APPROVAL}


async def test_what_was_written_before_is_told_while_a_free_tool_is_still_at_work(
    make_agent: MakeAgent, model: ScriptedModel, shop: Shop
) -> None:
    go = asyncio.Event()

    async def slow() -> str:
        await go.wait()
        return "slow"

    agent = make_agent(tools=[*shop.tools(), slow])
    gate = model.pauses("", "", calls=[BUY, ("slow", {})])
    first = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    second = await begun(agent.run("two", session_id="s"))
    gate.release()
    assert (await second).status is RunStatus.AWAITING_APPROVAL
    assert not first.done()
    go.set()
    assert (await first).status is RunStatus.AWAITING_APPROVAL


async def test_a_decision_in_the_middle_of_a_free_tool_is_recorded_at_once(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager, shop: Shop
) -> None:
    working, go = asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        working.set()
        await go.wait()
        return "slow"

    agent = make_agent(tools=[*shop.tools(), slow])
    model.says(calls=[BUY, ("slow", {})]).then("all done")
    run = asyncio.ensure_future(_result(agent, "go"))
    await working.wait()
    [request] = await agent.pending("s")
    approval = await begun(agent.approve("s", request.approval_id, by="bob"))
    assert await events_of(manager, "s", ApprovalDecidedEvent)
    go.set()
    assert (await run).output == "all done"
    assert (await approval).final_text == "all done"
    assert shop.sold == ["tea", "tea"]


async def _result(agent: Agent, text: str) -> AgentResult:
    return await agent.run(text, session_id="s")


async def test_a_request_that_nobody_decides_expires(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager, shop: Shop
) -> None:
    agent = make_agent(tools=shop.tools(), approval_ttl=timedelta(0))
    model.says(calls=[BUY]).then("too late")
    result = await agent.run("buy tea", session_id="s")
    assert result.output == "too late"
    [decided] = await events_of(manager, "s", ApprovalDecidedEvent)
    assert isinstance(decided, ApprovalDecidedEvent)
    assert decided.decision is Decision.EXPIRED
    with pytest.raises(ApprovalDecidedError, match="expired"):
        await agent.approve("s", decided.approval_id, by="bob")
    assert shop.sold == []


async def test_a_late_approval_is_recorded_as_expired_and_refused(
    make_agent: MakeAgent, model: ScriptedModel, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, ttl = movable(monkeypatch), timedelta(hours=1)
    agent = make_agent(tools=shop.tools(), approval_ttl=ttl)
    [request] = (await paused(agent, model)).pending
    clock.advance(ttl)
    with pytest.raises(ApprovalDecidedError, match="expired"):
        await agent.approve("s", request.approval_id, by="bob")
    model.says("too late")
    assert (await agent.resume("s")).output == "too late"
    assert shop.sold == []


@pytest.mark.parametrize("way", ["stop", "reset"])
async def test_stop_and_reset_cancel_what_waits(
    agent: Agent, model: ScriptedModel, manager: SessionManager, shop: Shop, way: str
) -> None:
    [request] = (await paused(agent, model)).pending
    await (agent.stop if way == "stop" else agent.reset)("s", by="alice")
    if way == "stop" or isinstance(manager, SessionStore):
        told: Any = pytest.raises(ApprovalDecidedError, match="cancelled by alice")
    else:
        told = pytest.raises(ApprovalNotFoundError)  # it cannot look before the window
    with told:
        await agent.approve("s", request.approval_id, by="bob")
    assert shop.sold == []
    assert await agent.pending("s") == []


async def test_an_approval_lives_through_restarts(
    make_agent: MakeAgent, model: ScriptedModel, shop: Shop
) -> None:
    agent = make_agent(tools=shop.tools())
    [request] = (await paused(agent, model)).pending
    for _ in range(3):
        await agent.close()
        agent = make_agent(tools=shop.tools())
        assert (await agent.resume("s")).status is RunStatus.AWAITING_APPROVAL
    model.says("enjoy")
    assert (await agent.approve("s", request.approval_id, by="bob")).output == "enjoy"
    assert shop.sold == ["tea", "tea"]


async def test_a_gate_can_look_at_the_arguments(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    spent: list[int] = []

    def is_much(arguments: Mapping[str, Any]) -> bool:
        return bool(arguments["amount"] > 10)

    @tool(approval=is_much)
    def spend(amount: int) -> str:
        spent.append(amount)
        return "spent"

    agent = make_agent(tools=[spend])
    model.says(calls=[("spend", {"amount": 5}), ("spend", {"amount": 50})])
    result = await agent.run("spend", session_id="s")
    assert spent == [5]
    assert [request.arguments for request in result.pending] == [{"amount": 50}]


async def test_a_gate_can_look_at_what_was_said(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    visited: list[str] = []

    def was_named(arguments: Mapping[str, Any], session: Session) -> bool:
        said = (event for event in session.events if isinstance(event, UserMessageEvent))
        return all(arguments["place"] not in event.text for event in said)

    @tool(approval=was_named)
    def visit(place: str) -> str:
        visited.append(place)
        return "seen"

    agent = make_agent(tools=[visit])
    model.says(calls=[("visit", {"place": "Rome"}), ("visit", {"place": "Oslo"})])
    result = await agent.run("go to Rome", session_id="s")
    assert visited == ["Rome"]
    assert [request.arguments for request in result.pending] == [{"place": "Oslo"}]


async def test_a_gate_may_be_written_in_c(make_agent: MakeAgent, model: ScriptedModel) -> None:
    @tool(approval=bool)  # whatever has arguments asks
    def act(what: str = "this") -> str:
        return "acted"

    agent = make_agent(tools=[act])
    model.says(calls=[("act", {})])
    assert len((await agent.run("go", session_id="s")).pending) == 1


async def test_a_gate_that_fails_asks(make_agent: MakeAgent, model: ScriptedModel) -> None:
    def broken(arguments: Mapping[str, Any]) -> bool:
        raise KeyError("oops")

    @tool(approval=broken)
    def act() -> str:
        return "acted"

    agent = make_agent(tools=[act])
    model.says(calls=[("act", {})])
    assert len((await agent.run("go", session_id="s")).pending) == 1


async def test_a_call_that_became_gated_gets_its_request_before_it_starts(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    gated = iter([False, True, True, True])

    @tool(approval=lambda arguments: next(gated))
    def act() -> str:
        return "acted"

    agent = make_agent(tools=[act])
    model.says(calls=[("act", {})])
    result = await agent.run("go", session_id="s")
    assert result.status is RunStatus.AWAITING_APPROVAL
    assert not await events_of(manager, "s", ToolStartedEvent)


async def test_an_approved_call_of_a_tool_that_is_gone_at_its_start_is_told(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager, shop: Shop
) -> None:
    agent = make_agent(tools=shop.tools())
    [request] = (await paused(agent, model)).pending
    agent.suspend()
    events = aiter(agent.approve("s", request.approval_id, by="bob"))
    assert isinstance(await anext(events), ApprovalDecidedEvent)
    await events.aclose()
    await agent.close()
    model.says("sorry")
    await make_agent().resume("s")
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    assert result.status is ToolStatus.ERROR


async def test_an_approval_that_runs_out_before_the_start_does_not_count(
    make_agent: MakeAgent,
    model: ScriptedModel,
    manager: SessionManager,
    shop: Shop,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Approved in time, but the process ends before the start and begins again too late."""
    clock, ttl = movable(monkeypatch), timedelta(hours=1)
    agent = make_agent(tools=shop.tools(), approval_ttl=ttl)
    [request] = (await paused(agent, model)).pending
    run = agent.approve("s", request.approval_id, by="bob")
    agent.suspend()
    events = aiter(run)
    assert isinstance(await anext(events), ApprovalDecidedEvent)
    await events.aclose()
    await agent.close()
    clock.advance(ttl)
    model.says("too late")
    await make_agent(tools=shop.tools()).resume("s")
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    assert result.status is ToolStatus.EXPIRED
    assert shop.sold == []


async def test_a_decision_stays_when_its_reader_leaves(
    agent: Agent, model: ScriptedModel, manager: SessionManager, shop: Shop
) -> None:
    [request] = (await paused(agent, model)).pending
    events = aiter(agent.approve("s", request.approval_id, by="bob"))
    assert isinstance(await anext(events), ApprovalDecidedEvent)
    await events.aclose()
    [decided] = await events_of(manager, "s", ApprovalDecidedEvent)
    assert isinstance(decided, ApprovalDecidedEvent)
    assert decided.decision is Decision.APPROVED
    [end] = await events_of(manager, "s", TurnEndedEvent)
    assert isinstance(end, TurnEndedEvent)


async def test_a_run_of_a_decision_streams_all_turns_and_ends_once(
    agent: Agent, model: ScriptedModel
) -> None:
    [request] = (await paused(agent, model)).pending
    await agent.run("second", session_id="s")
    model.says("first answer").then("second answer")
    seen = [event async for event in agent.approve("s", request.approval_id, by="bob")]
    assert isinstance(seen[0], ApprovalDecidedEvent)
    done = [event for event in seen if isinstance(event, DoneEvent)]
    assert [event.final_text for event in done] == ["second answer"]
    assert len({event.turn_id for event in seen}) == 2


async def test_requests_are_bound_to_tool_and_arguments(
    agent: Agent, model: ScriptedModel, manager: SessionManager
) -> None:
    calls = ("buy", {"thing": "tea"}), ("buy", {"thing": "tea", "count": 1})
    first, second = (await paused(agent, model, *calls)).pending
    assert first.arguments_hash == second.arguments_hash
    assert first.approval_id != second.approval_id
    [*requests] = await events_of(manager, "s", ApprovalRequestedEvent)
    assert len(requests) == 2


async def test_a_decision_that_is_cancelled_while_it_is_recorded_stays_and_ends_its_turn(
    agent: Agent, model: ScriptedModel, shop: Shop
) -> None:
    [request] = (await paused(agent, model)).pending
    model.answers(lambda _: "next")
    recorded = asyncio.Event()
    agent.watch(lambda *_: recorded.set())

    async def approve() -> AgentResult:
        return await agent.approve("s", request.approval_id, by="bob")

    task = asyncio.create_task(approve())
    await recorded.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await agent.pending("s") == []
    assert (await agent.run("and now?", session_id="s")).output == "next"


async def test_a_tool_that_changed_since_its_call_was_approved_does_not_run(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    ran: list[str] = []

    def send(text: str) -> None:
        ran.append(text)

    def send_to(text: str, to: str = "everyone") -> None:
        ran.append(to)

    agent = make_agent(tools=[tool(name="send", approval=True)(send)])
    model.says(calls=[("send", {"text": "hi"})]).then("sorry")
    [request] = (await agent.run("send", session_id="s")).pending
    await agent.close()
    later = make_agent(tools=[tool(name="send", approval=True)(send_to)])
    await later.approve("s", request.approval_id, by="bob")
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    assert "changed" in result.output
    assert ran == []


async def test_a_decision_taken_while_reading_the_run_that_asked_does_not_wait_for_itself(
    agent: Agent, model: ScriptedModel, shop: Shop
) -> None:
    model.says(calls=[BUY]).then("enjoy")
    statuses = []
    async for event in agent.run("buy tea", session_id="s"):
        if isinstance(event, ApprovalRequestedEvent):
            statuses.append((await agent.approve("s", event.approval_id, by="bob")).status)
        if isinstance(event, DoneEvent):
            statuses.append(event.status)
    assert statuses == [RunStatus.HANDED_OVER, RunStatus.COMPLETED]
    assert shop.sold == ["tea", "tea"]
