"""Several processes on one database: real ones, and agents with connections of their own."""

from __future__ import annotations

import asyncio
import signal
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from bot import (
    AccessDeniedError,
    Agent,
    AgentRun,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    RecordedEvent,
    RunStatus,
    Session,
    SQLiteSessionManager,
    StopRequestedEvent,
    TextChunkEvent,
    ToolResultEvent,
    ToolStartedEvent,
    ToolStatus,
    TurnEndedEvent,
    UserMessage,
    tool,
)
from bot.agent.loop import endings, heeding, live
from bot.agent.profiles import Profile
from bot.sandbox.model import ScriptedModel, serve_model
from bot.sessions import PostgresSessionManager, SQLSessionManager
from bot.sessions.database.holders import AdvisoryHolders
from bot.sessions.store import Standing
from tests.agent.conftest import MakeAgent, begun, events_of, roles
from tests.commands import environment
from tests.forking.client import create_forked

MakeOther = Callable[..., Agent]

APPROVER = """
import asyncio, sys
from pathlib import Path
from bot import Agent, ApprovalDecidedError, Provider, SQLiteSessionManager, tool
from bot.sessions import PostgresSessionManager

db, base_url, approval_id, who, ran = sys.argv[1:]

@tool(approval=True)
def pay() -> str:
    "Pay."
    with open(ran, "a") as file:
        file.write(who + "\\n")
    return "paid"

async def main():
    agent = Agent(
        provider=Provider(model="scripted", api_key="key", base_url=base_url),
        session_manager=PostgresSessionManager(db) if "://" in db else SQLiteSessionManager(db),
        tools=[pay],
    )
    await agent.pending("s")  # everything is open before the starting signal
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        result = await agent.approve("s", approval_id, by=who)
        print("ran", result.status, flush=True)
    except ApprovalDecidedError as exc:
        print("decided", exc.by, exc.at.isoformat(), flush=True)
    await agent.close()

asyncio.run(main())
"""


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where a database is: one of each engine."""
    if request.param == "sqlite":
        return str(tmp_path / "sessions.db")
    url: str = request.getfixturevalue("postgres").new_database()
    return url


def sessions(address: str) -> SQLSessionManager:
    if "://" in address:
        return PostgresSessionManager(address)
    return SQLiteSessionManager(address)


CROWD = """
import asyncio, sys
from pathlib import Path
from bot import Agent, ApprovalDecidedError, Provider, SQLiteSessionManager, tool
from bot.sessions import PostgresSessionManager

db, base_url, ran, who, *cards = sys.argv[1:]

@tool(approval=True)
def pay(number: int) -> str:
    "Pay."
    with open(ran, "a") as file:
        file.write(f"{number}\\n")
    return "paid"

async def click(agent, card):
    session_id, approval_id = card.split("/")
    try:
        await agent.approve(session_id, approval_id, by=who)
    except ApprovalDecidedError:
        return 0
    return 1

async def main():
    agent = Agent(
        provider=Provider(model="scripted", api_key="key", base_url=base_url),
        session_manager=PostgresSessionManager(db) if "://" in db else SQLiteSessionManager(db),
        tools=[pay],
    )
    await agent.pending("s0")
    print("ready", flush=True)
    sys.stdin.readline()
    counted = await asyncio.gather(*(click(agent, card) for card in cards for _ in "12"))
    print("counted", sum(counted), flush=True)
    await agent.close()

asyncio.run(main())
"""

STOPPER = """
import asyncio, os, signal, sys
from bot import Agent, Provider, SQLiteSessionManager
from bot.agent.loop.lease import SessionLease
from bot.sessions import PostgresSessionManager

db, base_url = sys.argv[1:]
looked = SessionLease.is_elsewhere

async def is_elsewhere(lease):
    elsewhere = await looked(lease)
    print(elsewhere, flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    return elsewhere

SessionLease.is_elsewhere = is_elsewhere

async def main():
    agent = Agent(
        provider=Provider(model="scripted", api_key="key", base_url=base_url),
        session_manager=PostgresSessionManager(db) if "://" in db else SQLiteSessionManager(db),
    )
    agent.watch(lambda session_id, events: events and os.kill(os.getpid(), signal.SIGKILL))
    await agent.stop("s", by="mod")

asyncio.run(main())
"""


@pytest.fixture
async def manager(address: str) -> AsyncIterator[SQLSessionManager]:
    manager = sessions(address)
    yield manager
    await manager.close()


@pytest.fixture
def make_other(make_agent: MakeAgent, address: str) -> MakeOther:
    """Make agents as another process would: with connections and a holder of their own."""

    def made(**options: Any) -> Agent:
        return make_agent(session_manager=sessions(address), **options)

    return made


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
        lines = await _race(tmp_path, APPROVER, *both)
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
        lines = await _race(tmp_path, CROWD, *([*common, who, *cards] for who in ("bob", "eve")))
    assert sorted(map(int, ran.read_text().split())) == list(range(50))
    assert sum(int(line.split()[-1]) for line in lines) == 50
    for session in range(10):
        starts = await events_of(manager, f"s{session}", ToolStartedEvent)
        results = await events_of(manager, f"s{session}", ToolResultEvent)
        assert len(starts) == len(results) == 5


async def _race(folder: Path, script: str, *commands: list[str]) -> list[str]:
    """Start a process a command, let all go at once, and return each one's last line."""
    processes = [await _process(folder, script, *command) for command in commands]
    for process in processes:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
    answers = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    return [out.decode().strip() for out, _ in answers]


async def _stop_and_be_killed(folder: Path, address: str) -> None:
    """Stop a session's turn in another process, which is killed by its first save."""
    stopper = await _process(folder, STOPPER, address, "http://127.0.0.1:9")
    await stopper.communicate(b"go\n")
    assert stopper.returncode == -signal.SIGKILL


async def _process(folder: Path, script: str, *arguments: str) -> asyncio.subprocess.Process:
    """Start a process that is spoken with."""
    (program := folder / "program.py").write_text(script)
    return await create_forked(
        str(program), *arguments, env=environment({}), stdin=PIPE, stdout=PIPE
    )


async def test_a_message_to_a_session_that_another_process_runs_is_answered_by_that_one(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    manager: SQLSessionManager,
) -> None:
    gate = model.pauses("", "first")
    model.says("second")
    agent = make_agent()
    mine = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    theirs = await make_other().run("two", session_id="s")
    assert theirs.status is RunStatus.HANDED_OVER
    answered = asyncio.Event()
    agent.watch(lambda *_: answered.set() if len(model.requests) == 2 else None)
    gate.release()
    assert (await mine).final_text == "first"
    await answered.wait()
    session = await manager.get("s")
    assert session is not None
    last = session.events[-1]
    assert isinstance(last, AssistantMessageEvent)
    assert last.text == "second"
    assert roles(model.requests[-1]) == "u,a,u"
    model.says("third")
    assert (await make_other().run("three", session_id="s")).output == "third"


async def test_a_message_that_another_process_left_to_a_run_is_answered_though_its_reader_leaves(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    manager: SQLSessionManager,
) -> None:
    gate = model.pauses("first", "rest")
    agent, answered = make_agent(), asyncio.Event()
    events = aiter(agent.run("one", session_id="s"))
    async with aclosing(events):
        while not isinstance(await anext(events), TextChunkEvent):
            pass
        assert (await make_other().run("two", session_id="s")).status is RunStatus.HANDED_OVER
        model.says("second")
        agent.watch(lambda _, recorded: answered.set() if _answers(recorded, "second") else None)
    gate.release()
    async with asyncio.timeout(20):
        await answered.wait()
    standing = await manager.standing("s")
    assert standing is not None
    assert standing.holder is None


def _answers(recorded: Sequence[RecordedEvent], text: str) -> bool:
    return any(isinstance(e, AssistantMessageEvent) and e.text == text for e in recorded)


async def test_a_decision_of_another_process_is_followed_by_the_one_that_runs(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    manager: SQLSessionManager,
) -> None:
    working, go, paid = asyncio.Event(), asyncio.Event(), []

    async def slow() -> str:
        working.set()
        await go.wait()
        return "slow"

    @tool(approval=True)
    def pay() -> str:
        paid.append(1)
        return "paid"

    model.says(calls=[("pay", {}), ("slow", {})]).then("all done")
    agent, other = make_agent(tools=[pay, slow]), make_other(tools=[pay, slow])
    run = await begun(agent.run("go", session_id="s"))
    await working.wait()
    [request] = await other.pending("s")
    assert (await other.approve("s", request.approval_id, by="bob")).status is (
        RunStatus.HANDED_OVER
    )
    go.set()
    assert (await run).final_text == "all done"
    assert paid == [1]


async def test_a_stop_by_another_process_is_found_at_the_next_save(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    assert await make_other().stop("s", by="mod")
    gate.release()
    assert (await run).status is RunStatus.STOPPED


async def test_a_copy_of_a_message_recorded_by_another_process_is_a_duplicate(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    model.says("hello")
    message = UserMessage(text="hi", source_id="discord-1")
    await make_agent().run(message, session_id="s")
    again = await make_other().run(message, session_id="elsewhere")
    assert again.status is RunStatus.DUPLICATE


async def test_what_a_dead_process_began_is_unknown_to_the_next(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    manager: SQLSessionManager,
) -> None:
    working = asyncio.Event()

    async def slow() -> str:
        working.set()
        await asyncio.Event().wait()
        return "never"

    model.says(calls=[("slow", {})]).then("I do not know what came of it")
    agent = make_agent(tools=[slow])
    run = await begun(agent.run("go", session_id="s"))
    await working.wait()
    agent.suspend()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    other = make_other(tools=[slow])
    assert (await other.resume("s")).status is RunStatus.HANDED_OVER
    await agent.close()
    assert (await other.resume("s")).output == "I do not know what came of it"
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    assert result.status is ToolStatus.UNKNOWN
    assert len(await events_of(manager, "s", ToolStartedEvent)) == 1
    assert not await events_of(manager, "s", TurnEndedEvent)


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


async def test_what_was_left_to_a_process_that_closes_is_answered_by_the_next(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    agent = make_agent()
    first = model.pauses("", "first")
    second = model.pauses("", "never")
    mine = await begun(agent.run("one", session_id="s"))
    await first.reached.wait()
    await make_other().run("two", session_id="s")
    first.release()
    await mine
    await second.reached.wait()
    await agent.close()
    model.says("second")
    assert (await make_other().resume("s")).output == "second"


@pytest.mark.parametrize("address", ["postgres"], indirect=True)
async def test_a_run_hears_at_once_of_a_stop_by_another_process(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(heeding, "HEED_EVERY", 3600.0)
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    assert await make_other().stop("s", by="mod")
    assert (await run).status is RunStatus.STOPPED


@pytest.fixture
def heedless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs meet what other processes have recorded only when they save."""
    monkeypatch.setattr(heeding, "HEED_EVERY", 60.0)
    monkeypatch.setattr(endings, "CARRIED_OUT_WITHIN", 60.0)
    monkeypatch.setattr(AdvisoryHolders, "tell_others", lambda *_: None)


@pytest.fixture
def attentive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs look at once for what other processes have recorded."""
    monkeypatch.setattr(heeding, "HEED_EVERY", 0.01)
    monkeypatch.setattr(endings, "CARRIED_OUT_WITHIN", 60.0)


@pytest.mark.usefixtures("attentive")
async def test_a_stop_by_another_process_ends_a_stream_that_says_nothing(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    gate = model.pauses("half", "rest")
    agent = make_agent()
    heard: list[str] = []
    agent.watch(lambda session_id, events: heard.append(session_id))
    run = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    before = len(heard)
    assert await make_other().stop("s", by="mod")
    assert (await run).status is RunStatus.STOPPED
    assert len(heard) > before  # so that what was recorded elsewhere is shown
    model.says("here")
    assert (await agent.run("two", session_id="s")).output == "here"


@pytest.mark.usefixtures("attentive")
@pytest.mark.parametrize("address", ["postgres"], indirect=True)
async def test_a_stop_of_which_nothing_is_heard_is_found_all_the_same(
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(AdvisoryHolders, "tell_others", lambda *_: None)
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    assert await make_other().stop("s", by="mod")
    assert (await run).status is RunStatus.STOPPED


@pytest.mark.usefixtures("attentive")
@pytest.mark.parametrize("how", ["stop", "reset", "end"])
async def test_what_was_shown_is_recorded_whichever_process_ends_its_turn(
    how: str,
    make_agent: MakeAgent,
    make_other: MakeOther,
    model: ScriptedModel,
    manager: SQLSessionManager,
) -> None:
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    other = make_other()
    if how == "stop":
        assert await other.stop("s", by="mod")
    elif how == "reset":
        await other.reset("s", by="mod")
    else:
        assert await other.end("s", None, by="mod")
    assert (await run).status is RunStatus.STOPPED
    [asked, shown, end] = await _ending_of(manager)
    assert isinstance(asked, StopRequestedEvent)
    assert isinstance(shown, AssistantMessageEvent)
    assert (shown.text, shown.interrupted) == ("half", True)
    assert isinstance(end, TurnEndedEvent)


@pytest.mark.usefixtures("heedless")
async def test_an_answer_that_is_complete_when_another_process_has_stopped_it_is_a_cut_one(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel, manager: SQLSessionManager
) -> None:
    """The stop was recorded first; the run has not looked yet."""
    gate = model.pauses("half", "rest")
    run = await begun(make_agent().run("one", session_id="s"))
    await gate.reached.wait()
    other = make_other()
    asked = _requests(other)
    stop = asyncio.create_task(other.stop("s", by="mod"))
    await asked.wait()
    gate.release()
    assert (await run).status is RunStatus.STOPPED
    assert await stop
    [_, shown, end] = await _ending_of(manager)
    assert isinstance(shown, AssistantMessageEvent)
    assert (shown.text, shown.interrupted) == ("halfrest", True)
    assert isinstance(end, TurnEndedEvent)


@pytest.mark.usefixtures("heedless")
async def test_no_tool_starts_once_another_process_has_stopped_the_turn(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel, manager: SQLSessionManager
) -> None:
    """The second call waits for a human, who says yes after the stop."""
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
    other = make_other(tools=[pay, slow])
    [request] = await other.pending("s")
    asked = _requests(other)
    stop = asyncio.create_task(other.stop("s", by="mod"))
    await asked.wait()
    await other.approve("s", request.approval_id, by="mod")
    go.set()
    assert (await run).status is RunStatus.STOPPED
    assert await stop
    [start] = await events_of(manager, "s", ToolStartedEvent)
    results = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(start, ToolStartedEvent)
    assert [each.status for each in results if isinstance(each, ToolResultEvent)] == [
        ToolStatus.OK,
        ToolStatus.CANCELLED,
    ]


@pytest.mark.usefixtures("heedless")
async def test_a_stop_is_carried_out_by_whoever_goes_on_if_both_processes_end(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel, manager: SQLSessionManager
) -> None:
    gate = model.pauses("half", "rest")
    agent, other = make_agent(), make_other()
    run = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    asked = _requests(other)
    stop = asyncio.create_task(other.stop("s", by="mod"))
    await asked.wait()
    for each, ended in ((agent, run), (other, stop)):
        each.suspend()
        ended.cancel()
        await asyncio.wait([ended])
        await each.close()
    assert (await make_other().resume("s")).status is RunStatus.STOPPED
    assert len(model.requests) == 1
    assert [type(each) for each in await _ending_of(manager)] == [
        StopRequestedEvent,
        TurnEndedEvent,
    ]


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
    stopper = await _process(tmp_path, STOPPER, address, "http://127.0.0.1:9")
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


def _second_look(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Return what lets whoever waits for another process' end of a turn look for it."""
    go, looks, look = asyncio.Event(), count(1), live.LiveSession.look

    async def late(self: live.LiveSession) -> None:
        if next(looks) == 2:
            await go.wait()
        await look(self)

    monkeypatch.setattr(live.LiveSession, "look", late)
    return go


def _requests(agent: Agent) -> asyncio.Event:
    """Return what is set once an agent has asked that a turn be ended."""
    asked = asyncio.Event()

    def note(session_id: str, events: Sequence[RecordedEvent]) -> None:
        if any(isinstance(event, StopRequestedEvent) for event in events):
            asked.set()

    agent.watch(note)
    return asked


async def _ending_of(manager: SQLSessionManager) -> list[RecordedEvent]:
    """Return what was recorded of the first turn after its message, before any reset."""
    log = await manager.read_log("s")
    return [event for event in log[1:] if event.turn_id == log[0].turn_id]


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


@pytest.mark.usefixtures("attentive")
async def test_a_message_by_another_process_leaves_a_run_alone(
    make_agent: MakeAgent, make_other: MakeOther, model: ScriptedModel
) -> None:
    gate = model.pauses("half", " and half")
    agent, seen = make_agent(), asyncio.Event()
    run = await begun(agent.run("one", session_id="s"))
    await gate.reached.wait()
    agent.watch(lambda session_id, events: seen.set())
    assert (await make_other().run("two", session_id="s")).status is RunStatus.HANDED_OVER
    await seen.wait()
    model.says("second")
    gate.release()
    assert (await run).final_text == "half and half"


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
    await _stop_and_be_killed(tmp_path, address)
    second = await begun(agent.run("two", session_id="s"))
    async with asyncio.timeout(20):
        assert (await run).status is RunStatus.STOPPED
    model.says("second")
    assert (await second).final_text == "second"


async def _asked_to_stop_by_somebody_killed(agent: Agent, folder: Path, address: str) -> None:
    """Have another process ask for a stop, and be killed; return once an agent has seen it."""
    seen = asyncio.Event()
    agent.watch(lambda session_id, events: seen.set())
    await _stop_and_be_killed(folder, address)
    await seen.wait()
    await asyncio.sleep(0)  # whoever noticed it has done all of it


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
