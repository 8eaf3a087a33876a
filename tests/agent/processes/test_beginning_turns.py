"""What another process asks of a turn that just begins."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot import Agent, RunStatus, tool
from bot.agent.profiles import Profile
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent, begun
from tests.agent.processes.conftest import MakeOther
from tests.agent.processes.programs import stop_and_be_killed


class SlowProfiles:
    """Keeps a turn, by default the second, from beginning until it may."""

    def __init__(self, slow: int = 2) -> None:
        self.slow = slow
        self.turns = 0
        self.reached, self.go = asyncio.Event(), asyncio.Event()

    async def of(self, session_id: str) -> Profile:
        self.turns += 1
        if self.turns == self.slow:
            self.reached.set()
            await self.go.wait()
        return Profile()


@pytest.mark.usefixtures("attentive")
async def test_a_message_by_another_process_leaves_a_turn_alone_that_just_begins(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    gate, profiles, seen = model.pauses("", "first"), SlowProfiles(), asyncio.Event()
    agent = make_agent(profiles=profiles)
    first = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    second = await begun(agent.run("two", session_id="s"))
    model.says("second").then("third")
    gate.release()
    await profiles.reached.wait()
    agent.watch(lambda session_id, events: seen.set())
    assert (await make_other().run("three", session_id="s")).status is RunStatus.HANDED_OVER
    await seen.wait()
    await asyncio.sleep(0)  # whoever noticed it has done all of it
    profiles.go.set()
    assert [(await run).final_text for run in (first, second)] == ["first", "second"]


@pytest.mark.usefixtures("attentive")
async def test_a_turn_that_just_begins_is_ended_though_who_asked_for_that_is_gone(
    make_agent: MakeAgent, model: ScriptedModel, address: str, tmp_path: Path
) -> None:
    profiles = SlowProfiles(1)
    agent = make_agent(profiles=profiles)
    run = await begun(agent.run("one", session_id="s"))
    await profiles.reached.wait()
    await _asked_to_stop_by_somebody_killed(agent, tmp_path, address)
    model.says("never")
    profiles.go.set()
    assert (await run).status is RunStatus.STOPPED
    assert model.requests == []


@pytest.mark.usefixtures("attentive")
async def test_a_next_turn_that_just_begins_is_ended_though_who_asked_for_that_is_gone(
    make_agent: MakeAgent, model: ScriptedModel, address: str, tmp_path: Path
) -> None:
    @tool(approval=True)
    def pay() -> str:
        return "never"

    profiles = SlowProfiles(3)
    agent = make_agent(profiles=profiles, tools=[pay])
    model.says(calls=[("pay", {})]).then("not paid")
    [request] = (await agent.run("one", session_id="s")).pending
    assert (await agent.run("two", session_id="s")).status is RunStatus.AWAITING_APPROVAL
    run = await begun(agent.deny("s", request.approval_id, by="bob"))
    await profiles.reached.wait()
    await _asked_to_stop_by_somebody_killed(agent, tmp_path, address)
    model.says("never")
    profiles.go.set()
    assert (await run).status is RunStatus.STOPPED
    assert len(model.requests) == 2


@pytest.mark.usefixtures("heedless")
async def test_a_stop_is_carried_out_however_the_run_comes_to_read_of_it(
    make_agent: MakeAgent, model: ScriptedModel, address: str, tmp_path: Path
) -> None:
    """A message reads it first; who asked is gone."""
    gate, agent = model.pauses("half", "rest"), make_agent()
    run = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    await stop_and_be_killed(tmp_path, address)
    second = await begun(agent.run("two", session_id="s"))
    async with asyncio.timeout(20):
        assert (await run).status is RunStatus.STOPPED
    model.says("second")
    assert (await second).final_text == "second"


async def _asked_to_stop_by_somebody_killed(agent: Agent, folder: Path, address: str) -> None:
    """Have another process ask for a stop, and be killed; return once an agent has seen it."""
    seen = asyncio.Event()
    agent.watch(lambda session_id, events: seen.set())
    await stop_and_be_killed(folder, address)
    await seen.wait()
    await asyncio.sleep(0)  # whoever noticed it has done all of it
