"""Rules at work: they are asked again whenever something is recorded, and may have changed."""

from __future__ import annotations

from typing import Any

import pytest

from bot import InMemorySessionManager, SessionManager, tool
from bot.agent import Actor
from bot.agent.approvers import Approvers
from bot.agent.loop.answering import OFF
from bot.agent.policy.policy import Rules
from bot.agent.policy.rule import UNSAID, Mode, OperatorRule, Rule
from bot.events import ToolResultEvent, ToolStartedEvent, ToolStatus
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent, events_of

SWITCHED_OFF = OperatorRule(rule=Rule(mode=Mode.NEVER))


@tool(approval=True)
def pay() -> str:
    """Pay."""
    raise AssertionError("it never runs here")


class Book:
    """Rules that somebody may change at any time."""

    def __init__(self, said: OperatorRule = UNSAID) -> None:
        self.said = said

    async def refreshed(self, session_id: str) -> Rules:
        return Rules(lambda name: self.said)


@pytest.fixture
def manager() -> SessionManager:
    return InMemorySessionManager()


async def result_of(manager: SessionManager) -> ToolResultEvent:
    assert not await events_of(manager, "s", ToolStartedEvent)
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    return result


async def test_a_call_of_a_tool_that_is_off_asks_nobody(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    agent = make_agent(tools=[pay], policy=Book(SWITCHED_OFF))
    model.says(calls=[("pay", {})]).then("It is off.")
    assert (await agent.run("pay", session_id="s")).output == "It is off."
    result = await result_of(manager)
    assert (result.status, result.output) == (ToolStatus.ERROR, OFF)


async def test_a_yes_to_a_tool_that_was_switched_off_meanwhile_starts_nothing(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    book = Book()
    agent = make_agent(tools=[pay], policy=book)
    model.says(calls=[("pay", {})]).then("It is off.")
    [request] = (await agent.run("pay", session_id="s")).pending
    book.said = SWITCHED_OFF
    assert (await agent.approve("s", request.approval_id, by="mod")).output == "It is off."
    result = await result_of(manager)
    assert (result.status, result.output) == (ToolStatus.ERROR, OFF)


async def test_who_may_decide_is_told_by_the_rules_of_now(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    book = Book()
    agent = make_agent(tools=[pay], policy=book)
    model.says(calls=[("pay", {})])
    [request] = (await agent.run("pay", session_id="s", user_id="alice")).pending
    people: dict[str, Any] = {"alice": Actor(user_id="alice"), "bob": Actor(user_id="bob")}

    async def deciders() -> set[str]:
        return {name for name, who in people.items() if await agent.may_decide("s", request, who)}

    assert await deciders() == {"alice", "bob"}
    book.said = OperatorRule(rule=Rule(approvers=Approvers(two_person=True)))
    assert await deciders() == {"bob"}
    assert (await agent.rules("s")).takes_two(pay)
