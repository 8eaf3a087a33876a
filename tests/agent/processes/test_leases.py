"""Who runs a session, and for how long."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from bot import AgentRun, ApprovalRequestedEvent, AssistantMessageEvent, RunStatus, tool
from bot.agent.loop import live
from bot.sandbox.model import ScriptedModel
from bot.sessions import SQLSessionManager
from bot.sessions.store import Standing
from tests.agent.conftest import MakeAgent, begun
from tests.agent.processes.conftest import MakeOther


async def test_a_resumption_with_nothing_to_do_keeps_no_lease(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    agent, other = make_agent(), make_other()
    model.says("hi").then("done")
    await agent.run("hello", session_id="s")
    await agent.resume("s")
    assert (await other.run("and now?", session_id="s")).output == "done"


async def test_a_resumption_that_only_waits_keeps_no_lease(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    @tool(approval=True)
    def pay() -> str:
        return "paid"

    agent, other = make_agent(tools=[pay]), make_other(tools=[pay])
    model.says(calls=[("pay", {})]).then("thanks")
    [request] = (await agent.run("pay", session_id="s")).pending
    await agent.resume("s")
    assert (await other.approve("s", request.approval_id, by="bob")).output == "thanks"


async def test_what_is_recorded_while_a_lease_is_given_back_is_seen(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel, manager: SQLSessionManager
) -> None:
    """The session is left waiting; another process decides before the first gives it back."""

    @tool(approval=True)
    def pay() -> str:
        return "paid"

    agent = make_agent(tools=[pay], session_manager=manager)
    model.says(calls=[("pay", {})]).then("thanks")
    [request] = (await agent.run("pay", session_id="s")).pending
    other = make_other(tools=[pay])
    run = agent.resume("s")
    decided = await asyncio.gather(
        _status(run), _status(other.approve("s", request.approval_id, by="bob"))
    )
    assert RunStatus.COMPLETED in decided
    assert await agent.pending("s") == []


async def _status(run: AgentRun) -> RunStatus:
    return (await run).status


async def test_a_stop_by_another_process_leaves_no_lease_behind(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    other = make_other()
    await other.stop("s", by="mod")
    gate.release()
    assert (await run).status is RunStatus.STOPPED
    model.says("here")
    assert (await other.run("two", session_id="s")).output == "here"


async def test_a_reset_while_runs_are_queued_leaves_no_lease_behind(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    agent = make_agent()
    gate = model.pauses("half", "rest")
    runs = [await begun(agent.run("one", session_id="s"))]
    await gate.reached.wait()
    runs += [await begun(agent.run(text, session_id="s")) for text in ("two", "three")]
    await agent.reset("s", by="bob")
    assert {(await run).status for run in runs} == {RunStatus.STOPPED}
    model.says("here")
    assert (await make_other().run("four", session_id="s")).output == "here"


async def test_who_goes_on_after_a_wait_takes_the_lease_again(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    """A decision arrives before the reader of the run that began to wait asks for the next step."""
    working, go = asyncio.Event(), asyncio.Event()

    @tool(approval=True)
    async def pay(amount: int) -> str:
        working.set()
        await go.wait()
        return f"paid {amount}"

    agent, other = make_agent(tools=[pay]), make_other(tools=[pay])
    model.says(calls=[("pay", {"amount": 1}), ("pay", {"amount": 2})]).then("both paid")
    events = aiter(agent.run("pay", session_id="s"))
    requests: list[ApprovalRequestedEvent] = []
    while len(requests) < 2:
        event = await anext(events)
        if isinstance(event, ApprovalRequestedEvent):
            requests.append(event)
    first, second = requests
    decision = aiter(agent.approve("s", first.approval_id, by="bob"))
    await anext(decision)

    async def rest() -> None:
        async with aclosing(events):
            async for _ in events:
                pass

    reading = asyncio.create_task(rest())
    await working.wait()
    status = (await other.approve("s", second.approval_id, by="eve")).status
    assert status is RunStatus.HANDED_OVER
    go.set()
    await reading
    await decision.aclose()
    outputs = [m["content"] for m in model.requests[-1]["messages"] if m["role"] == "tool"]
    assert outputs == ["paid 1", "paid 2"]


@pytest.mark.usefixtures("attentive")
async def test_a_run_whose_lease_was_taken_over_leaves_the_session_to_the_other(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel, manager: SQLSessionManager
) -> None:
    gate, lost = model.pauses("half", "late"), asyncio.Event()
    agent = make_agent()
    run = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    await manager.database.execute("UPDATE sessions SET holder = 'holder-0'")  # as a lost one
    agent.watch(lambda session_id, events: lost.set())
    model.says("in time")
    assert (await make_other().resume("s")).output == "in time"
    await lost.wait()
    gate.release()
    done = await run
    assert (done.status, done.final_text) in [
        (RunStatus.COMPLETED, "in time"),
        (RunStatus.STOPPED, ""),
    ]
    log = await manager.read_log("s")
    answers = [event.text for event in log if isinstance(event, AssistantMessageEvent)]
    assert answers == ["in time"]


async def test_a_look_that_is_late_does_not_lose_the_lease_that_was_taken_meanwhile(
    make_agent: MakeAgent,
    model: ScriptedModel,
    manager: SQLSessionManager,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It hears of the holder before us when we have taken the lease over long since."""
    agent = make_agent(session_manager=manager)
    await agent.skip("earlier", "s")
    await manager.database.execute("UPDATE sessions SET holder = 'holder-0'")  # as a lost one
    standing, asked, gate = manager.standing, asyncio.Event(), model.pauses("half", " and half")

    async def late(session_id: str) -> Standing | None:
        found = await standing(session_id)
        first = not asked.is_set()
        asked.set()
        if first:
            await gate.reached.wait()
        return found

    monkeypatch.setattr(manager, "standing", late)
    looking = asyncio.create_task(agent.pending("s"))
    await asked.wait()
    run = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    await looking
    gate.release()
    assert (await run).final_text == "half and half"
    found = await standing("s")
    assert found is not None
    assert found.holder is None


@pytest.mark.usefixtures("attentive")
async def test_who_is_cancelled_while_a_last_look_ends_is_cancelled(
    manager: SQLSessionManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = live.LiveSession("s", manager)
    await manager.create("s")
    await used.open()
    looking, leaving, go = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(session_id: str) -> None:
        looking.set()
        try:
            await asyncio.Event().wait()
        finally:
            leaving.set()
            await go.wait()

    async def driven() -> None:
        async with used.driving(None):
            await looking.wait()

    monkeypatch.setattr(manager, "standing", slow)
    driver = asyncio.create_task(driven())
    await leaving.wait()
    driver.cancel()
    go.set()
    await asyncio.wait([driver])
    assert driver.cancelled()
    await manager.close()


async def test_a_session_that_is_deleted_or_begun_anew_is_not_taken_for_what_it_was(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel, manager: SQLSessionManager
) -> None:
    """A tool that is still at work there keeps what was read of it."""
    working = asyncio.Event()

    @tool(approval=True)
    def pay() -> str:
        return "never"

    async def slow() -> str:
        working.set()
        await asyncio.Event().wait()
        return "never"

    model.says(calls=[("pay", {}), ("slow", {})])
    agent = make_agent(tools=[pay, slow])
    run = await begun(agent.run("go", session_id="s", user_id="alice"))
    await working.wait()
    assert len(await agent.pending("s")) == 1
    await manager.delete("s")
    assert await agent.pending("s") == ()
    assert not await agent.stop("s", by="alice")
    await make_other().skip("too late", "s")
    assert await agent.pending("s") == []
    run.cancel()
    await asyncio.wait([run])


@pytest.mark.usefixtures("attentive")
async def test_a_session_that_another_process_deletes_ends_its_run(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel, manager: SQLSessionManager
) -> None:
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    await manager.delete("s")
    looks = asyncio.Semaphore(0)
    standing = manager.standing

    async def noted(session_id: str) -> object:
        looks.release()
        return await standing(session_id)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manager, "standing", noted)
        for _ in range(2):
            await looks.acquire()
    gate.release()
    with pytest.raises(Exception, match="no session"):
        await run
