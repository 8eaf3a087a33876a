"""Asking again about the latest turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot import (
    AccessDeniedError,
    Agent,
    Ask,
    Author,
    NotLatestError,
    RunStatus,
    SessionManager,
    SQLiteSessionManager,
    TurnEndedEvent,
    TurnFailedError,
    UserMessageEvent,
)
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent, begun, events_of


async def asked(agent: Agent, text: str = "two and two?") -> str:
    """Let a question be answered; return its turn."""
    result = await agent.run(text, "s", user_id="alice")
    return result.context.session.events[-1].turn_id


async def test_another_answer_is_a_turn_of_its_own(
    agent: Agent, model: ScriptedModel, manager: SessionManager
) -> None:
    model.says("Five.").then("Four.")
    turn_id = await asked(agent)
    result = await agent.again("s", turn_id, by=Author(user_id="bob", name="Bob"))
    assert result.output == "Four."
    [_, again] = await events_of(manager, "s", UserMessageEvent)
    assert isinstance(again, UserMessageEvent)
    assert (again.asks, again.about, again.source_id) == (Ask.RETRY, turn_id, None)
    assert again.turn_id != turn_id
    roles = [each["role"] for each in model.requests[1]["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert model.requests[1]["messages"][1]["content"] == "Five."
    assert model.requests[1]["messages"][2]["content"].startswith("[from Bob (bob)]\nPlease try")


async def test_the_rest_of_an_answer_is_asked_for_with_what_is_there(
    agent: Agent, model: ScriptedModel
) -> None:
    model.says("One, two,").then("three.")
    turn_id = await asked(agent)
    await agent.again("s", turn_id, by="alice", ask=Ask.CONTINUE)
    [_, cut, words] = model.requests[1]["messages"]
    assert cut == {"role": "assistant", "content": "One, two,"}
    assert words["content"].startswith("Please go on")


async def test_a_failed_turn_can_be_tried_again(agent: Agent, model: ScriptedModel) -> None:
    model.says(" ").then("Four.")
    with pytest.raises(TurnFailedError):
        await asked(agent)
    session = await agent._parts.manager.get("s")
    assert session is not None
    [ended] = [each for each in session.events if isinstance(each, TurnEndedEvent)]
    result = await agent.again("s", ended.turn_id, by="alice")
    assert result.output == "Four."


async def test_only_the_latest_turn_is_asked_about(agent: Agent, model: ScriptedModel) -> None:
    model.says("One.").then("Two.")
    first = await asked(agent)
    await asked(agent)
    with pytest.raises(NotLatestError, match="not the latest") as refused:
        await agent.again("s", first, by="alice")
    assert not refused.value.busy
    assert len(model.requests) == 2


async def test_a_reset_leaves_nothing_to_ask_about(agent: Agent, model: ScriptedModel) -> None:
    model.says("One.")
    first = await asked(agent)
    await agent.reset("s", by="alice")
    with pytest.raises(NotLatestError):
        await agent.again("s", first, by="alice")


async def test_nothing_is_asked_again_while_a_turn_is_open(
    agent: Agent, model: ScriptedModel
) -> None:
    model.says("One.")
    first = await asked(agent)
    gate = model.pauses("Let me see", then=".")
    running = await begun(agent.run("and?", "s", user_id="alice"))
    await gate.reached.wait()
    with pytest.raises(NotLatestError, match="no end yet") as refused:
        await agent.again("s", first, by="alice")
    assert refused.value.busy
    gate.release()
    await running


async def test_several_at_once_make_one_turn(
    agent: Agent, model: ScriptedModel, manager: SessionManager
) -> None:
    model.says("One.").then("Two.")
    first = await asked(agent)
    ends = await asyncio.gather(
        *(agent.again("s", first, by=f"user-{n}") for n in range(5)), return_exceptions=True
    )
    assert sum(isinstance(each, NotLatestError) for each in ends) == 4
    assert len(await events_of(manager, "s", UserMessageEvent)) == 2


async def test_two_processes_make_one_turn(
    make_agent: MakeAgent, model: ScriptedModel, tmp_path: Path
) -> None:
    stores = [SQLiteSessionManager(tmp_path / "both.db") for _ in range(2)]
    one, other = (make_agent(session_manager=store) for store in stores)
    model.says("One.").then("Two.").then("Three.")
    first = await asked(one)
    await other.pending("s")  # it has read the session
    ends = await asyncio.gather(
        one.again("s", first, by="alice"), other.again("s", first, by="bob"), return_exceptions=True
    )
    assert sum(isinstance(each, NotLatestError) for each in ends) == 1
    assert len(await events_of(stores[0], "s", UserMessageEvent)) == 2


async def test_a_store_keeps_one_question_about_a_turn(tmp_path: Path) -> None:
    again = UserMessageEvent(text="again", asks=Ask.RETRY, about="turn-1")
    assert again.natural_key == "again:turn-1"
    assert UserMessageEvent(text="x", source_id="a").natural_key == "source:a"
    assert UserMessageEvent(text="x").natural_key is None


async def test_a_session_that_is_not_there_is_not_made(
    agent: Agent, manager: SessionManager
) -> None:
    with pytest.raises(AccessDeniedError):
        await agent.again("nowhere", "turn-1", by="alice")
    assert await manager.get("nowhere") is None


async def test_who_may_not_continue_may_not_ask_again(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    agent = make_agent(may_continue=lambda session, user_id: user_id == "alice")
    model.says("One.")
    first = await asked(agent)
    with pytest.raises(AccessDeniedError):
        await agent.again("s", first, by="bob")


async def test_it_is_answered_after_a_restart(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionManager
) -> None:
    model.says("One.")
    agent = make_agent()
    first = await asked(agent)
    await agent.close()
    model.says("Two.")
    result = await make_agent().again("s", first, by="alice")
    assert (result.output, result.status) == ("Two.", RunStatus.COMPLETED)
