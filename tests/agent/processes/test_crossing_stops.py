"""A stop by another process that crosses with what its turn does."""

from __future__ import annotations

import asyncio
import signal
from itertools import count
from pathlib import Path

import pytest

from bot import RunStatus, StopRequestedEvent, TurnEndedEvent, tool
from bot.agent.loop import endings, live
from bot.sandbox.model import ScriptedModel
from bot.sessions import SQLSessionManager
from tests.agent.conftest import MakeAgent, begun, events_of
from tests.agent.processes.conftest import MakeOther
from tests.agent.processes.programs import STOPPER, start


async def test_a_stop_that_crosses_with_the_beginning_of_a_wait_needs_nobody_to_carry_it_out(
    make_agent: MakeAgent,
    model: ScriptedModel,
    manager: SQLSessionManager,
    address: str,
    tmp_path: Path,
) -> None:
    """Who stops has seen that another process runs the session, and is killed by its first save."""
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
    stopper = await start(tmp_path, STOPPER, address, "http://127.0.0.1:9")
    assert stopper.stdout is not None
    assert await stopper.stdout.readline() == b"True\n"
    go.set()
    assert (await run).status is RunStatus.AWAITING_APPROVAL
    await stopper.communicate(b"go\n")
    assert stopper.returncode == -signal.SIGKILL
    session = await manager.get("s")
    assert session is not None
    assert session.open_turns == ()
    assert isinstance(session.events[-1], TurnEndedEvent)


async def test_a_turn_that_waits_for_another_one_is_ended_at_once_by_whoever_is_asked(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel, manager: SQLSessionManager
) -> None:
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    other = make_other()
    await other.run("two", session_id="s")
    session = await manager.get("s")
    assert session is not None
    assert await other.end("s", [session.open_turns[1].turn_id], by="mod")
    assert not await events_of(manager, "s", StopRequestedEvent)
    gate.release()
    assert (await run).final_text == "halfrest"


@pytest.mark.usefixtures("heedless")
async def test_who_stops_ends_the_turn_if_its_process_does_not(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endings, "CARRIED_OUT_WITHIN", 0.05)
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    other = make_other()
    assert await other.stop("s", by="mod")
    session = await other.resume("s")
    assert session.context.session.open_turns == ()
    gate.release()
    assert (await run).status is RunStatus.STOPPED


@pytest.mark.usefixtures("attentive")
async def test_a_stop_that_another_process_carries_out_leaves_the_next_turn_alone(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who asked for the stop answers the next message before it has heard of the end."""
    go = _second_look(monkeypatch)
    gate = model.pauses("half", "rest")
    first = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    other = make_other()
    stopping = asyncio.create_task(other.stop("s", by="mod"))
    assert (await first).status is RunStatus.STOPPED
    second = model.pauses("second", " answer")
    run = await begun(other.run("two", session_id="s"))
    await second.reached.wait()
    go.set()
    assert await stopping
    second.release()
    assert (await run).final_text == "second answer"


@pytest.mark.usefixtures("attentive")
async def test_a_reset_waits_for_no_turn_that_began_after_it(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go = _second_look(monkeypatch)
    gate = model.pauses("half", "rest")
    agent, other = make_agent(), make_other()
    run = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    resetting = asyncio.create_task(other.reset("s", by="mod"))
    assert (await run).status is RunStatus.STOPPED
    model.pauses("later", "never")
    later = await begun(agent.run("two", session_id="s"))
    go.set()
    async with asyncio.timeout(20):
        await resetting
    assert (await later).status is RunStatus.STOPPED


@pytest.mark.usefixtures("attentive")
async def test_a_reset_by_another_process_ends_a_tool_that_works(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    working = asyncio.Event()

    async def slow() -> str:
        working.set()
        await asyncio.Event().wait()
        return "never"

    model.says(calls=[("slow", {})])
    run = await begun(make_agent(tools=[slow]).run("go", session_id="s"))
    await working.wait()
    await make_other(tools=[slow]).reset("s", by="mod")
    assert (await run).status is RunStatus.STOPPED


def _second_look(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Return what lets whoever waits for another process' end of a turn look for it."""
    go, looks, look = asyncio.Event(), count(1), live.LiveSession.look

    async def late(self: live.LiveSession) -> None:
        if next(looks) == 2:
            await go.wait()
        await look(self)

    monkeypatch.setattr(live.LiveSession, "look", late)
    return go
