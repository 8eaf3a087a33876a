"""What is stored with each save: whether a start has to look at the session."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from bot import Agent, RunStatus, SQLiteSessionManager, tool
from bot.events import utc_now
from bot.sandbox.model import ScriptedModel
from bot.sessions.stores.deliveries import DeliveryStore
from bot.sessions.stores.rests import Rest, RestStore
from tests.agent.conftest import MakeAgent, begun

ASKS = [("pay", {"name": "a"})]
LATER = timedelta(hours=1)


@pytest.fixture
def manager(tmp_path: Path) -> SQLiteSessionManager:
    return SQLiteSessionManager(tmp_path / "sessions.db")


@tool(approval=True)
async def pay(name: str) -> str:
    """Pay somebody."""
    return f"paid {name}"


@pytest.fixture
def payer(make_agent: MakeAgent) -> Agent:
    return make_agent(tools=[pay])


async def rests(manager: SQLiteSessionManager) -> bool:
    """Return whether a start would leave the session alone, if people saw all of it."""
    session = await manager.get("s")
    assert session is not None
    shown = Rest(session.version, "", utc_now() + LATER)
    await DeliveryStore(manager.database).set_delivered_to("s", 0, shown)
    return not await RestStore(manager.database).open("", utc_now())


async def killed_after_deciding(agent: Agent, approval_id: str) -> None:
    """Record a yes, and end before anything follows from it."""
    agent.suspend()
    events = aiter(agent.approve("s", approval_id, by="bob"))
    await anext(events)
    await events.aclose()


async def test_a_session_that_waits_rests(
    payer: Agent, manager: SQLiteSessionManager, model: ScriptedModel
) -> None:
    model.says(calls=ASKS)
    await payer.run("pay a", session_id="s")
    assert await rests(manager)


async def test_a_message_behind_the_wait_changes_nothing(
    payer: Agent, manager: SQLiteSessionManager, model: ScriptedModel
) -> None:
    model.says(calls=ASKS)
    await payer.run("pay a", session_id="s")
    await payer.run("and b?", session_id="s")
    assert await rests(manager)


async def test_after_a_decision_nothing_rests_until_what_follows_is_done(
    payer: Agent, manager: SQLiteSessionManager, model: ScriptedModel
) -> None:
    model.says(calls=ASKS).then("Paid.")
    paused = await payer.run("pay a", session_id="s")
    await killed_after_deciding(payer, paused.pending[0].approval_id)
    assert not await rests(manager)
    assert (await payer.resume("s")).status is RunStatus.COMPLETED
    assert await rests(manager)


async def test_one_of_two_requests_decided_ends_the_rest_though_the_other_waits(
    payer: Agent, manager: SQLiteSessionManager, model: ScriptedModel
) -> None:
    model.says(calls=[*ASKS, ("pay", {"name": "b"})])
    paused = await payer.run("pay both", session_id="s")
    await killed_after_deciding(payer, paused.pending[0].approval_id)
    assert not await rests(manager)
    assert (await payer.resume("s")).status is RunStatus.AWAITING_APPROVAL
    assert await rests(manager)


async def test_a_session_at_work_does_not_rest(
    make_agent: MakeAgent, manager: SQLiteSessionManager, model: ScriptedModel
) -> None:
    @tool
    async def slow() -> str:
        """Take time."""
        working.set()
        await go.wait()
        return "done"

    working, go = asyncio.Event(), asyncio.Event()
    agent = make_agent(tools=[pay, slow])
    model.says(calls=[("slow", {}), *ASKS])
    run = await begun(agent.run("go", session_id="s"))
    await working.wait()
    assert not await rests(manager)
    go.set()
    await run
    assert await rests(manager)


async def test_a_wait_in_which_a_run_was_cut_off_rests_once_it_was_looked_at(
    payer: Agent, manager: SQLiteSessionManager, model: ScriptedModel
) -> None:
    model.says(calls=ASKS)
    await payer.run("pay a", session_id="s")
    await manager.lease("s", await manager.register())
    await payer.close()
    assert not await rests(manager)
    await payer.resume("s")
    assert await rests(manager)


async def test_a_message_that_nothing_answers_yet_does_not_rest(
    make_agent: MakeAgent, manager: SQLiteSessionManager, model: ScriptedModel
) -> None:
    agent = make_agent()
    gate = model.hangs()
    run = await begun(agent.run("hi", session_id="s"))
    await gate.reached.wait()
    agent.suspend()
    run.cancel()
    await asyncio.wait([run])
    assert not await rests(manager)
