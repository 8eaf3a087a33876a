"""The one way to write to a session: what is asked again, what is finished, what is dropped."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from bot import (
    AccessDeniedError,
    Agent,
    InMemorySessionManager,
    Provider,
    RecordedEvent,
    ResetEvent,
    RunStatus,
    Session,
    SQLiteSessionManager,
    StorageError,
    ToolError,
    ToolResultEvent,
    ToolStatus,
    UserMessageEvent,
    tool,
)
from bot.agent.history.attachments import Attachments
from bot.agent.loop.closing import end_turn
from bot.agent.loop.interrupts import Interrupted, Interrupts
from bot.agent.loop.live import LiveSession
from bot.agent.loop.loop import stopped
from bot.agent.loop.sessions import LiveSessions
from bot.agent.loop.steps import RunTools, next_step
from bot.agent.loop.working import run_tools
from bot.agent.model.capacity import Capacity
from bot.agent.model.models import Models
from bot.agent.parts import Parts
from bot.agent.tools.threads import in_daemon_thread
from bot.agent.usage.meter import FreeMeter
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent, begun, events_of
from tests.agent.logs import answer, user_message
from tests.sessions.third_party import DictManager, ObjectManager


def texts(session: Session) -> list[str]:
    return [event.text for event in session.events if isinstance(event, UserMessageEvent)]


def anyone(session: Session, user_id: str | None) -> bool:
    return True


def says(text: str) -> Sequence[RecordedEvent]:
    return [UserMessageEvent(text=text)]


def _always(events: Sequence[RecordedEvent], session: Session) -> Sequence[RecordedEvent]:
    return events


@pytest.fixture
def manager() -> InMemorySessionManager:
    return InMemorySessionManager()


@pytest.fixture
async def live(manager: InMemorySessionManager) -> LiveSession:
    await manager.create("s")
    live = LiveSession("s", manager)
    await live.open()
    return live


async def record_behind_its_back(manager: InMemorySessionManager, text: str) -> None:
    other = await manager.get("s")
    assert other is not None
    other.append(*says(text))
    await manager.save(other)


async def test_after_a_conflict_it_is_asked_again_with_what_is_stored(
    live: LiveSession, manager: InMemorySessionManager
) -> None:
    await record_behind_its_back(manager, "theirs")
    seen = []

    def decide(session: Session) -> Sequence[RecordedEvent]:
        seen.append(texts(session))
        return says("mine")

    session = live.session
    await live.record(decide)
    assert seen == [[], ["theirs"]]
    assert texts(session) == ["theirs", "mine"]
    assert session is live.session


async def test_a_conflict_keeps_what_was_changed_in_the_state(
    live: LiveSession, manager: InMemorySessionManager
) -> None:
    live.session.state.update({"kept": 1, "gone": 1})
    await live.record(lambda s: says("first"))
    other = await manager.get("s")
    assert other is not None
    other.state["theirs"] = 2
    other.append(*says("theirs"))
    await manager.save(other)
    live.session.state["mine"] = 3
    del live.session.state["gone"]
    await live.record(lambda s: says("mine"))
    stored = await manager.get("s")
    assert stored is not None
    assert dict(stored.state) == {"kept": 1, "theirs": 2, "mine": 3}


async def test_who_is_cancelled_while_recording_is_cancelled_after_the_save(
    tmp_path: Path,
) -> None:
    manager = SQLiteSessionManager(tmp_path / "s.db")
    live = LiveSession("s", manager)
    await live.admit(None, anyone)
    task = asyncio.create_task(live.record(lambda s: says("hello")))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    stored = await manager.get("s")
    assert stored is not None
    assert texts(stored) == ["hello"]
    await manager.close()


class Failing(DictManager):
    failing = False

    async def save(self, session: Session) -> None:
        await asyncio.sleep(0)
        if self.failing:
            raise StorageError("the disk is full")
        await super().save(session)


class FailingObjects(ObjectManager):
    failing = False

    async def save(self, session: Session) -> None:
        if self.failing:
            raise StorageError("the disk is full")
        await super().save(session)


@pytest.mark.parametrize("kind", [Failing, FailingObjects])
async def test_after_a_failure_nothing_of_it_is_left(
    kind: type[Failing] | type[FailingObjects],
) -> None:
    manager = kind()
    live = LiveSession("s", manager)
    await live.admit(None, anyone)
    await live.record(lambda s: says("first"))
    manager.failing = True
    for lost in ([*says("lost"), ResetEvent(by="bob")], says("lost")):
        with pytest.raises(StorageError):
            await live.record(partial(_always, lost))
        assert texts(live.session) == ["first"]
    manager.failing = False
    await live.record(lambda s: says("kept"))
    assert texts(live.session) == ["first", "kept"]
    assert len(live.session.open_turns) == 2


async def test_a_failure_seen_by_nobody_does_not_hide_a_cancellation() -> None:
    manager = Failing()
    live = LiveSession("s", manager)
    await live.admit(None, anyone)
    manager.failing = True
    task = asyncio.create_task(live.record(lambda s: says("lost")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_lease_is_not_given_back_over_what_others_recorded(
    live: LiveSession, manager: InMemorySessionManager
) -> None:
    holder = await manager.register()
    lease = await live.lease.take(holder)
    assert lease is not None
    assert lease.taken
    await record_behind_its_back(manager, "theirs")
    assert not await live.lease.give_back()
    assert texts(live.session) == ["theirs"]


async def test_who_takes_a_lease_reads_what_others_recorded_before(
    live: LiveSession, manager: InMemorySessionManager
) -> None:
    await record_behind_its_back(manager, "theirs")
    await live.lease.take(await manager.register())
    assert texts(live.session) == ["theirs"]


async def test_a_session_is_live_once(manager: InMemorySessionManager) -> None:
    sessions = LiveSessions(manager)
    live = sessions["s"]
    assert sessions["s"] is live


async def test_a_session_that_nobody_uses_any_more_is_let_go_at_once(
    manager: InMemorySessionManager,
) -> None:
    """Without waiting for the garbage collector, which would find cycles."""
    live = LiveSessions(manager)["s"]
    await live.admit(None, anyone)
    async with live.driving(None):
        await live.record(lambda s: says("hello"))
    gone = weakref.ref(live)
    del live
    assert gone() is None


async def test_a_session_is_made_with_what_is_first_recorded_in_it(
    manager: InMemorySessionManager,
) -> None:
    live = LiveSession("s", manager)
    await live.admit("alice", anyone)
    assert await manager.get("s") is None
    await live.record(lambda s: says("hello"))
    made = await manager.get("s")
    assert made is not None
    assert (made.user_id, texts(made)) == ("alice", ["hello"])


async def test_who_was_admitted_to_a_new_session_is_not_to_one_that_another_process_made_first(
    manager: InMemorySessionManager,
) -> None:
    live = LiveSession("s", manager)
    await live.admit("alice", anyone)
    await manager.create("s", "bob")
    with pytest.raises(AccessDeniedError):
        await live.record(lambda s: says("mine"))
    await live.admit("alice", anyone)
    await live.record(lambda s: says("mine"))
    assert (texts(live.session), live.session.user_id) == (["mine"], "bob")


@pytest.mark.parametrize("free", [True, False])
async def test_who_records_something_to_do_has_the_lease_with_it_if_it_is_free(
    live: LiveSession, manager: InMemorySessionManager, free: bool
) -> None:
    ours, theirs = await manager.register(), await manager.register()
    if not free:
        await manager.lease("s", theirs)
    await live.record(lambda s: says("hello"), take=ours)
    standing = await manager.standing("s")
    assert standing is not None
    assert standing.holder == (ours if free else theirs)
    assert live.lease.is_held is free


async def test_who_records_nothing_to_do_takes_no_lease(
    live: LiveSession, manager: InMemorySessionManager
) -> None:
    message = UserMessageEvent(text="hello")
    ended = [message, stopped(message.turn_id)]
    await live.record(lambda s: ended, take=await manager.register())
    assert not live.lease.is_held


async def test_an_interruption_holds_for_what_is_awaited_next() -> None:
    interrupts = Interrupts()
    interrupts.interrupt()
    with pytest.raises(Interrupted):
        await interrupts.guard(lambda: asyncio.sleep(0))


async def test_a_cancellation_is_not_taken_for_an_interruption() -> None:
    interrupts = Interrupts()
    task = asyncio.create_task(interrupts.guard(asyncio.Event().wait))
    await asyncio.sleep(0)
    interrupts.interrupt()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_thread_that_outlives_its_loop_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    begun, release = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        release.wait(10)

    async def leave() -> None:
        task = asyncio.create_task(in_daemon_thread(slow, name="slow"))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()

    asyncio.run(leave())
    [thread] = [t for t in threading.enumerate() if t.name == "tool slow"]
    release.set()
    thread.join(10)
    assert "late result of slow" in caplog.text


async def test_a_tool_that_finishes_after_its_turn_was_stopped_changes_nothing(
    make_agent: MakeAgent, model: ScriptedModel, manager: InMemorySessionManager
) -> None:
    """It shields itself from the cancellation, as a careless tool may."""
    working, release = asyncio.Event(), asyncio.Event()

    async def stubborn() -> str:
        working.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await release.wait()
        return "late"

    agent = make_agent(tools=[stubborn], session_manager=manager)
    model.says(calls=[("stubborn", {})])
    run = await begun(agent.run("go", session_id="s"))
    await working.wait()
    stopping = asyncio.create_task(agent.stop("s", by="bob"))
    assert await stopping
    release.set()
    assert (await run).status is RunStatus.STOPPED
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    assert result.status is ToolStatus.UNKNOWN


async def test_an_approved_call_whose_tool_takes_other_arguments_now_is_told(
    make_agent: MakeAgent, model: ScriptedModel, manager: InMemorySessionManager
) -> None:
    def pay(amount: int) -> str:
        return "never here"

    def pay_now(amount: int, account: str) -> str:
        return "never here"

    def agent_with(function: Callable[..., str]) -> Agent:
        made = tool(name="pay", approval=True)(function)
        return make_agent(tools=[made], session_manager=manager)

    model.says(calls=[("pay", {"amount": 1})]).then("sorry")
    agent = agent_with(pay)
    [request] = (await agent.run("pay", session_id="s")).pending
    await agent.close()
    await agent_with(pay_now).approve("s", request.approval_id, by="bob")
    [result] = await events_of(manager, "s", ToolResultEvent)
    assert isinstance(result, ToolResultEvent)
    assert "account" in result.output


async def test_an_edit_for_a_tool_that_is_gone_is_refused(
    make_agent: MakeAgent, model: ScriptedModel, manager: InMemorySessionManager
) -> None:
    @tool(approval=True)
    def pay(amount: int) -> str:
        return "never here"

    model.says(calls=[("pay", {"amount": 1})])
    agent = make_agent(tools=[pay], session_manager=manager)
    [request] = (await agent.run("pay", session_id="s")).pending
    await agent.close()
    edit = {"amount": 2}
    with pytest.raises(ToolError, match="still waits"):
        await make_agent(session_manager=manager).approve(
            "s", request.approval_id, by="bob", arguments=edit
        )


async def test_a_call_that_was_closed_meanwhile_does_not_start(
    manager: InMemorySessionManager, live: LiveSession
) -> None:
    """What was ready when it was looked at has ended when it is to start."""
    ran = []
    act = tool(name="t")(lambda: ran.append(1))
    provider = Provider(model="m", api_key="key", base_url="http://127.0.0.1:9/v1")
    parts = Parts(
        models=Models(provider),
        model=provider,
        manager=manager,
        own_tools={"t": act},
        system_prompt=str,
        approval_ttl=timedelta(hours=1),
        max_steps=5,
        slots=asyncio.Semaphore(),
        capacity=Capacity(provider),
        attachments=Attachments(manager),
        meter=FreeMeter(),
    )
    message, _ = await live.record(lambda s: [user_message(), answer(["a"])])
    step = next_step(live.session.unfinished())
    assert isinstance(step, RunTools)
    end = stopped(message.turn_id)
    await live.record(lambda s: end_turn(s, end, by="bob"))
    assert [beat async for beat in run_tools(parts, live, step.calls, "holder")] == [None]
    assert ran == []


async def test_a_reader_of_a_decision_that_leaves_does_not_stop_a_run_at_work(
    make_agent: MakeAgent, model: ScriptedModel, manager: InMemorySessionManager
) -> None:
    working, go = asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        working.set()
        await go.wait()
        return "slow"

    @tool(approval=True)
    def pay() -> str:
        return "paid"

    agent = make_agent(tools=[slow, pay], session_manager=manager)
    model.says(calls=[("slow", {}), ("pay", {})]).then("all done")
    run = await begun(agent.run("go", session_id="s"))
    await working.wait()
    [request] = await agent.pending("s")
    events = aiter(agent.approve("s", request.approval_id, by="bob"))
    await anext(events)
    await events.aclose()
    go.set()
    assert (await run).final_text == "all done"


async def test_nobody_sees_an_event_before_it_is_stored(tmp_path: Path) -> None:
    class Slow(SQLiteSessionManager):
        async def save(
            self, session: Session, *, release: str | None = None, rests: bool = False
        ) -> None:
            saving.set()
            await go.wait()
            await super().save(session, release=release, rests=rests)

    saving, go = asyncio.Event(), asyncio.Event()
    manager = Slow(tmp_path / "s.db")
    live = LiveSession("s", manager)
    await live.admit(None, anyone)
    task = asyncio.create_task(live.record(lambda s: says("hello")))
    await saving.wait()
    assert texts(live.session) == []
    assert live.session.open_turns == ()
    go.set()
    await task
    assert texts(live.session) == ["hello"]
    await manager.close()


async def test_a_reset_that_is_undone_brings_the_window_back(live: LiveSession) -> None:
    await live.record(lambda s: says("before"))
    await live.record(lambda s: [ResetEvent(by="bob")])
    await live.record(lambda s: [ResetEvent(by="bob", window_from=1)])
    assert texts(await live.open()) == ["before"]


async def test_a_value_that_is_no_json_for_a_moment_keeps_nobody_from_being_heard(
    live: LiveSession, manager: InMemorySessionManager
) -> None:
    live.session.state.update({"list": [1], "fine": 1})
    await live.record(lambda s: says("first"))
    live.session.state["list"].append({1, 2})
    live.session.state["fine"] = 2
    live.session.state["new"] = []
    live.session.state["new"].append({3})
    await live.record(lambda s: says("second"))
    stored = await manager.get("s")
    assert stored is not None
    assert texts(stored) == ["first", "second"]
    assert dict(stored.state) == {"list": [1], "fine": 2}
    assert live.session.state["list"] == [1, {1, 2}]


async def test_two_interruptions_at_once_end_what_is_awaited_and_nothing_else() -> None:
    interrupts = Interrupts()

    async def work() -> str:
        with pytest.raises(Interrupted):
            await interrupts.guard(asyncio.Event().wait)
        await asyncio.sleep(0)
        return "goes on"

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    interrupts.interrupt()
    interrupts.interrupt()
    assert await task == "goes on"


async def test_who_is_cancelled_while_taking_a_lease_has_taken_it(tmp_path: Path) -> None:
    manager = SQLiteSessionManager(tmp_path / "s.db")
    await manager.create("s")
    live = LiveSession("s", manager)
    await live.open()
    task = asyncio.create_task(live.lease.take(await manager.register()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await live.lease.give_back()
    lease = await manager.lease("s", await manager.register())
    assert lease.taken
    await manager.close()
