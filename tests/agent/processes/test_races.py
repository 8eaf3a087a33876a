"""Who is first where two processes do the same at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot import (
    AccessDeniedError,
    RunStatus,
    Session,
    ToolResultEvent,
    ToolStartedEvent,
    UserMessage,
    tool,
)
from bot.sandbox.model import ScriptedModel, serve_model
from bot.sessions import SQLSessionManager
from tests.agent.conftest import MakeAgent, events_of
from tests.agent.processes.conftest import MakeOther
from tests.agent.processes.programs import APPROVER, CROWD, race


async def test_two_processes_that_approve_one_call_run_it_once(
    model: ScriptedModel, address: str, make_agent: MakeAgent, tmp_path: Path
) -> None:
    @tool(approval=True)
    def pay() -> str:
        return "never here"

    model.says(calls=[("pay", {})])
    agent = make_agent(tools=[pay])
    [request] = (await agent.run("pay", session_id="s")).pending
    await agent.close()
    model.says("thanks")
    ran = tmp_path / "ran"
    async with serve_model(model) as server:
        arguments = [address, server.base_url, request.approval_id]
        both = ([*arguments, who, str(ran)] for who in ("bob", "eve"))
        lines = await race(tmp_path, APPROVER, *both)
    assert len(ran.read_text().splitlines()) == 1
    winner = ran.read_text().strip()
    told = sorted(line.split()[0] for line in lines)
    assert told == ["decided", "ran"]
    decided = next(line for line in lines if line.startswith("decided"))
    assert decided.split()[1] == winner


async def test_two_hundred_clicks_on_fifty_cards_in_two_processes_run_each_call_once(
    model: ScriptedModel,
    manager: SQLSessionManager,
    address: str,
    make_agent: MakeAgent,
    tmp_path: Path,
) -> None:
    """Ten sessions with five cards each; every card is clicked twice in each process."""

    @tool(approval=True)
    def pay(number: int) -> str:
        return "never here"

    agent, cards = make_agent(tools=[pay]), []
    for session in range(10):
        calls = [("pay", {"number": 5 * session + each}) for each in range(5)]
        model.says(calls=calls)
        paused = await agent.run("pay", session_id=f"s{session}")
        cards += [f"s{session}/{request.approval_id}" for request in paused.pending]
    await agent.close()
    model.answers(lambda request: "thanks")
    ran = tmp_path / "ran"
    async with serve_model(model) as server:
        common = [address, server.base_url, str(ran)]
        lines = await race(tmp_path, CROWD, *([*common, who, *cards] for who in ("bob", "eve")))
    assert sorted(map(int, ran.read_text().split())) == list(range(50))
    assert sum(int(line.split()[-1]) for line in lines) == 50
    for session in range(10):
        starts = await events_of(manager, f"s{session}", ToolStartedEvent)
        results = await events_of(manager, f"s{session}", ToolResultEvent)
        assert len(starts) == len(results) == 5


async def test_a_copy_of_a_message_recorded_by_another_process_is_a_duplicate(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    model.says("hello")
    message = UserMessage(text="hi", source_id="discord-1")
    await make_agent().run(message, session_id="s")
    again = await make_other().run(message, session_id="elsewhere")
    assert again.status is RunStatus.DUPLICATE


async def test_of_two_who_begin_a_session_at_once_one_may_continue_it(
    make_other: MakeOther,
    model: ScriptedModel,
    manager: SQLSessionManager,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def is_theirs(session: Session, user_id: str | None) -> bool:
        return session.user_id == user_id

    admitted, made = asyncio.Event(), asyncio.Event()
    mine, theirs = make_other(may_continue=is_theirs), make_other(may_continue=is_theirs)
    save = SQLSessionManager.save_taking

    async def late(store: SQLSessionManager, session: Session, holder: str) -> bool:
        if session.user_id == "alice":
            admitted.set()
            await made.wait()
        return await save(store, session, holder)

    monkeypatch.setattr(SQLSessionManager, "save_taking", late)
    model.says("Hello, Bob.")
    overtaken = asyncio.ensure_future(mine.run("I am Alice.", session_id="s", user_id="alice"))
    await admitted.wait()
    assert (await theirs.run("I am Bob.", session_id="s", user_id="bob")).output == "Hello, Bob."
    made.set()
    with pytest.raises(AccessDeniedError):
        await overtaken
    assert len(await events_of(manager, "s")) == 2
