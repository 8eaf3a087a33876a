"""Erasing turns, deleting sessions and taking resets back, through the agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import Agent, InMemorySessionManager, SQLiteSessionManager, UserMessage, tool
from bot.agent.history.messages import last_compaction
from bot.agent.loop.endings import UNDO_WITHIN, undone
from bot.errors import AccessDeniedError, ApprovalNotFoundError, NotLatestError, NotUndoneError
from bot.events import (
    ApprovalDecidedEvent,
    CompactionDoneEvent,
    ErasedEvent,
    Quote,
    RecordedEvent,
    ResetEvent,
    utc_now,
)
from bot.sandbox.model import ScriptedModel
from bot.sessions import Session, SessionManager, SessionStore
from bot.sessions.store import Standing
from tests.agent.conftest import MakeAgent, begun, events_of
from tests.sessions.samples import answers, says
from tests.sessions.third_party import DictManager


@tool(approval=True)
def delete_all() -> str:
    """Delete all."""
    return "deleted"


@pytest.fixture(params=[InMemorySessionManager, SQLiteSessionManager])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    if request.param is SQLiteSessionManager:
        return SQLiteSessionManager(tmp_path / "sessions.db")
    return InMemorySessionManager()


async def log_of(manager: SessionManager) -> Sequence[RecordedEvent]:
    assert isinstance(manager, SessionStore)
    return await manager.read_log("s")


async def keeps(manager: SessionManager, name: str) -> None:
    """Store a name in the session's state."""
    session = await manager.get("s")
    assert session is not None
    session.state["name"] = name
    await manager.save(session)


async def test_the_model_is_told_nothing_of_an_erased_turn(
    agent: Agent, model: ScriptedModel, manager: SessionStore
) -> None:
    model.says("Hello Alice.").then("Hello Bob.").then("Fine.")
    await agent.run("I am Alice", session_id="s", user_id="alice")
    await agent.run("I am Bob", session_id="s", user_id="bob")
    await agent.erase("s", await manager.turns_of("s", "alice"), by="alice")
    await agent.run("go on", session_id="s", user_id="bob")
    assert "Alice" not in str(model.requests[-1])
    assert "I am Bob" in str(model.requests[-1])


async def test_the_model_is_told_nothing_more_of_what_was_quoted_of_somebody(
    agent: Agent, model: ScriptedModel, manager: SessionStore
) -> None:
    quote = Quote(what="the message of Alice", text="zanzibar", author_id="alice")
    model.says("I see.").then("Fine.")
    await agent.run(UserMessage(text="see this", quotes=(quote,)), session_id="s", user_id="bob")
    await agent.unquote("s", "alice")
    await agent.unquote("none", "alice")
    await agent.run("go on", session_id="s", user_id="bob")
    assert "zanzibar" in str(model.requests[0])
    assert "zanzibar" not in str(model.requests[1])
    assert "see this\n[quoted: a message that was forgotten]" in str(
        model.requests[1]["messages"][0]["content"]
    )


async def test_of_whom_alone_wrote_nothing_is_left(
    agent: Agent, model: ScriptedModel, manager: SessionStore
) -> None:
    model.says("Hello.")
    await agent.run("hi", session_id="s", user_id="alice")
    await keeps(manager, "Alice")
    await agent.skip("too late", "s", user_id="alice")
    await agent.forget("s", "alice")
    await agent.forget("none", "alice")
    session = await manager.get("s")
    assert session is not None
    assert dict(session.state) == {}
    assert all(isinstance(event, ErasedEvent) for event in await log_of(manager))


async def test_what_somebody_wrote_is_forgotten_among_what_others_did_and_what_is_open(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionStore
) -> None:
    agent = make_agent(tools=[delete_all])
    model.says("Hello Alice.").says(calls=[("delete_all", {})])
    await agent.run("I am Alice", session_id="s", user_id="alice")
    await keeps(manager, "Alice")
    await agent.run("clean up", session_id="s", user_id="alice")
    await agent.forget("s", "alice")
    session = await manager.get("s")
    assert session is not None
    assert session.waits
    assert dict(session.state) == {"name": "Alice"}
    assert [isinstance(e, ErasedEvent) for e in session.events] == [True, True, *[False] * 3]
    await agent.skip("too late", "s", user_id="bob")
    await agent.end("s", None, by="alice")
    await agent.forget("s", "alice")
    assert await manager.authors("s") == {"bob": 1}


async def test_what_others_write_while_all_there_is_would_be_forgotten_stays(
    make_agent: MakeAgent,
    model: ScriptedModel,
    manager: SessionStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = make_agent(), make_agent()
    model.says("Hello Alice.").then("Hello Bob.")
    await ours.run("I am Alice", session_id="s", user_id="alice")
    authors = manager.authors

    async def overtaken(session_id: str) -> Mapping[str, int]:
        found = await authors(session_id)
        if len(model.requests) == 1:
            await theirs.run("I am Bob", session_id="s", user_id="bob")
        return found

    monkeypatch.setattr(manager, "authors", overtaken)
    await ours.forget("s", "alice")
    assert [isinstance(e, ErasedEvent) for e in await log_of(manager)] == [True, True, False, False]


@pytest.mark.parametrize("how", ["stop", "reset", "end", "erase", "forget", "unquote", "delete"])
async def test_what_another_process_deletes_meanwhile_is_as_if_it_had_not_been_there(
    make_agent: MakeAgent,
    model: ScriptedModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    manager = SQLiteSessionManager(tmp_path / "shared.db")
    agent = make_agent(tools=[delete_all], session_manager=manager)
    model.says(calls=[("delete_all", {})])
    await agent.run("clean up", session_id="s", user_id="alice")
    standing = manager.standing

    async def overtaken(session_id: str) -> Standing | None:
        found = await standing(session_id)
        await manager.delete(session_id)
        return found

    monkeypatch.setattr(manager, "standing", overtaken)
    ways: Mapping[str, Callable[[], Awaitable[object]]] = {
        "stop": lambda: agent.stop("s", by="alice"),
        "reset": lambda: agent.reset("s", by="alice"),
        "end": lambda: agent.end("s", None, by="alice"),
        "erase": lambda: agent.erase("s", None, by="alice"),
        "forget": lambda: agent.forget("s", "alice"),
        "unquote": lambda: agent.unquote("s", "alice"),
        "delete": lambda: agent.delete("s", by="alice"),
    }
    assert not await ways[how]()
    assert await manager.get("s") is None


async def test_an_open_turn_is_ended_first(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionStore
) -> None:
    agent = make_agent(tools=[delete_all])
    model.says(calls=[("delete_all", {})]).then("Hello Bob.")
    waiting = await agent.run("clean up", session_id="s", user_id="alice")
    behind = await agent.run("I am Bob", session_id="s", user_id="bob")
    assert behind.status == "awaiting_approval"
    turns = await manager.turns_of("s", "alice")
    assert await agent.end("s", turns, by="alice")
    assert not await agent.end("s", turns, by="alice")
    decisions = [e for e in await log_of(manager) if isinstance(e, ApprovalDecidedEvent)]
    assert [each.decision for each in decisions] == ["cancelled"]
    await agent.erase("s", turns, by="alice")
    with pytest.raises(ApprovalNotFoundError):
        await agent.approve("s", waiting.pending[0].approval_id, by="mod")
    assert (await agent.resume("s")).output == "Hello Bob."


async def test_a_turn_that_is_being_answered_is_cut_off(
    agent: Agent, model: ScriptedModel, manager: SessionStore
) -> None:
    gate = model.pauses("Once", " upon")
    running = await begun(agent.run("a story", session_id="s", user_id="alice"))
    await gate.reached.wait()
    await agent.erase("s", None, by="alice")
    assert (await running).status == "stopped"
    gate.release()
    assert all(isinstance(event, ErasedEvent) for event in await log_of(manager))


async def test_a_run_elsewhere_in_the_session_goes_on(
    agent: Agent, model: ScriptedModel, manager: SessionStore
) -> None:
    gate = model.says("Hello.").pauses("Once", " upon")
    await agent.run("I am Alice", session_id="s", user_id="alice")
    running = await begun(agent.run("a story", session_id="s", user_id="bob"))
    await gate.reached.wait()
    await agent.erase("s", await manager.turns_of("s", "alice"), by="alice")
    gate.release()
    assert (await running).final_text == "Once upon"


async def test_an_erased_message_is_not_answered_anew_nor_asked_about_again(
    agent: Agent, model: ScriptedModel, manager: SessionStore
) -> None:
    model.says("Hello.")
    message = UserMessage(text="hi", source_id="discord-1")
    await agent.run(message, session_id="s", user_id="alice")
    turns = await manager.turns_of("s", "alice")
    await agent.erase("s", turns, by="alice")
    known = await agent.run(message, session_id="s", user_id="alice")
    assert known.status == "duplicate"
    with pytest.raises(NotLatestError):
        await agent.again("s", turns[0], by="alice")


async def test_another_process_erases_under_a_live_session(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionStore
) -> None:
    gate = model.says("Hello Alice.").pauses("Once", " upon")
    model.then("Bob.")
    ours, theirs = make_agent(), make_agent()
    await ours.run("I am Alice", session_id="s", user_id="alice")
    running = await begun(ours.run("a story", session_id="s", user_id="bob"))
    await gate.reached.wait()
    await theirs.erase("s", await manager.turns_of("s", "alice"), by="alice")
    gate.release()
    assert (await running).final_text == "Once upon"
    await ours.run("who am I?", session_id="s", user_id="bob")
    assert "Alice" not in str(model.requests[-1])
    assert [isinstance(e, ErasedEvent) for e in await log_of(manager)][:3] == [True, True, False]


async def test_an_erasure_reads_again_what_another_process_has_written(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionStore
) -> None:
    gate = model.says("Hello Alice.").pauses("Once", " upon")
    ours, theirs = make_agent(), make_agent()
    await ours.run("I am Alice", session_id="s", user_id="alice")
    running = await begun(ours.run("a story", session_id="s", user_id="bob"))
    await gate.reached.wait()
    await theirs.skip("too late", "s", user_id="carol")
    await ours.erase("s", await manager.turns_of("s", "alice"), by="alice")
    gate.release()
    assert (await running).final_text == "Once upon"
    assert [isinstance(e, ErasedEvent) for e in await log_of(manager)][:3] == [True, True, False]


async def test_a_deleted_session_begins_anew(
    agent: Agent, model: ScriptedModel, manager: SessionStore
) -> None:
    gate = model.pauses("Once", " upon")
    model.then("Hello.")
    running = await begun(agent.run("a story", session_id="s", user_id="alice"))
    await gate.reached.wait()
    await agent.delete("s", by="alice")
    gate.release()
    running.cancel()
    assert await manager.get("s") is None
    assert (await agent.run("hi", session_id="s", user_id="bob")).output == "Hello."
    assert len(await log_of(manager)) == 2


async def test_a_session_that_is_begun_anew_is_run_under_a_lease_of_its_own(
    agent: Agent, model: ScriptedModel, manager: SessionStore
) -> None:
    first, second = model.pauses("Once", " upon"), model.pauses("Hello", " again")
    running = await begun(agent.run("a story", session_id="s", user_id="alice"))
    await first.reached.wait()
    assert await manager.delete("s")
    again = await begun(agent.run("hi", session_id="s", user_id="bob"))
    first.release()
    await second.reached.wait()
    standing = await manager.standing("s")
    assert standing is not None
    assert standing.holder is not None
    second.release()
    assert (await again).final_text == "Hello again"
    assert (await running).status == "stopped"


@pytest.mark.parametrize("too_late", [False, True])
async def test_what_is_said_just_as_a_session_is_deleted_begins_it_anew(
    make_agent: MakeAgent,
    model: ScriptedModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    too_late: bool,
) -> None:
    manager = SQLiteSessionManager(tmp_path / "shared.db")
    agent, save = make_agent(session_manager=manager), manager._save
    model.says("Hello.").then("Hello again.")
    await agent.run("hi", session_id="s", user_id="alice")

    async def overtaken(session: Session, **options: Any) -> bool:
        monkeypatch.undo()
        await manager.delete("s")
        return await save(session, **options)

    monkeypatch.setattr(manager, "_save", overtaken)
    if too_late:
        assert await agent.skip("and now?", "s", user_id="bob") == 1
    else:
        assert (await agent.run("and now?", "s", user_id="bob")).output == "Hello again."
    assert len(await manager.read_log("s")) == 2
    assert await manager.authors("s") == {"bob": 1}


async def test_who_may_not_continue_a_session_ends_and_forgets_nothing_of_it(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionStore
) -> None:
    agent = make_agent(may_continue=lambda session, user_id: user_id == session.user_id)
    model.says("Hello.")
    await agent.run("hi", session_id="s", user_id="alice")
    for refused in (
        agent.end("s", None, by="bob"),
        agent.erase("s", None, by="bob"),
        agent.delete("s", by="bob"),
        agent.undo_reset("s", 1, by="bob"),
    ):
        with pytest.raises(AccessDeniedError):
            await refused
    assert not await agent.end("none", None, by="bob")
    await agent.erase("none", None, by="bob")
    assert not await agent.delete("none", by="bob")
    assert len(await log_of(manager)) == 2


@pytest.mark.parametrize("user", ["author", "participant", "reader", "stranger", "other server"])
async def test_every_way_into_a_session_asks_who_may_continue_it(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionStore, user: str
) -> None:
    taking_part = ("author", "participant")
    agent = make_agent(may_continue=lambda session, user_id: user_id in taking_part)
    model.answers(lambda request: "Hello.")
    for name in taking_part:
        await agent.run("hi", session_id="s", user_id=name)
    latest = (await manager.turns_of("s", "participant"))[-1]
    before = await log_of(manager)
    last = [0]
    ways: list[Callable[[], Awaitable[object]]] = [
        lambda: agent.again("s", latest, by=user),
        lambda: agent.run("hi", session_id="s", user_id=user),
        lambda: agent.skip("hi", "s", user_id=user),
        lambda: agent.stop("s", by=user),
        lambda: agent.compact("s", by=user),
        lambda: agent.reset("s", by=user),
        lambda: agent.undo_reset("s", last[0], by=user),
        lambda: agent.end("s", None, by=user),
        lambda: agent.erase("s", None, by=user),
        lambda: agent.forget("s", user),
        lambda: agent.delete("s", by=user),
    ]
    for way in ways:
        if user in taking_part:
            await way()
            session = await manager.get("s")
            last[0] = session.last_seq if session else 0
        else:
            with pytest.raises(AccessDeniedError):
                await way()
    after = await log_of(manager)
    assert after == ([] if user in taking_part else before)


async def test_a_manager_that_forgets_nothing_says_so(
    make_agent: MakeAgent, model: ScriptedModel
) -> None:
    agent = make_agent(session_manager=DictManager())
    model.says("Hello.")
    await agent.run("hi", session_id="s", user_id="alice")
    with pytest.raises(TypeError):
        await agent.erase("s", None, by="alice")
    await agent.reset("s", by="alice")
    with pytest.raises(NotUndoneError):
        await agent.undo_reset("s", 3, by="alice")


# -- taking a reset back ---------------------------------------------------------------------------


async def test_a_reset_that_is_undone_forgets_nothing_and_revives_nothing(
    make_agent: MakeAgent, model: ScriptedModel, manager: SessionStore
) -> None:
    agent = make_agent(tools=[delete_all])
    model.says("Hello Alice.").says(calls=[("delete_all", {})]).then("Who knows?").then("Alice.")
    await agent.run("I am Alice", session_id="s", user_id="alice")
    await agent.run("clean up", session_id="s", user_id="alice")
    await agent.reset("s", by="alice")
    [reset] = await events_of(manager, "s", ResetEvent)
    await agent.run("who am I?", session_id="s", user_id="alice")
    assert "Hello Alice." not in str(model.requests[-1])
    await agent.undo_reset("s", reset.seq, by="alice")
    last = await agent.run("and now?", session_id="s", user_id="alice")
    assert last.output == "Alice."
    told = str(model.requests[-1])
    assert all(each in told for each in ("Hello Alice.", "who am I?", "Who knows?"))
    assert [e.decision for e in await log_of(manager) if isinstance(e, ApprovalDecidedEvent)] == [
        "cancelled"
    ]


async def test_what_is_being_answered_goes_on_over_an_undo(
    agent: Agent, model: ScriptedModel, manager: SessionStore
) -> None:
    gate = model.says("Hello.").pauses("Once", " upon")
    await agent.run("hi", session_id="s", user_id="alice")
    await agent.reset("s", by="alice")
    running = await begun(agent.run("a story", session_id="s", user_id="alice"))
    await gate.reached.wait()
    await agent.undo_reset("s", 3, by="alice")
    gate.release()
    assert (await running).final_text == "Once upon"


@pytest.mark.parametrize(
    "since",
    [
        ResetEvent(by="bob"),
        CompactionDoneEvent(summary="short", window_from=4),
        ResetEvent(by="bob", window_from=1),
    ],
)
def test_only_the_last_boundary_is_taken_back(since: RecordedEvent) -> None:
    session = Session("s")
    session.append(says(), answers(), ResetEvent(by="alice", window_before=1), says(), answers())
    assert undone(session, 3, by="bob", now=utc_now()).window_from == 1
    session.append(since)
    with pytest.raises(NotUndoneError) as refused:
        undone(session, 3, by="bob", now=utc_now())
    assert not refused.value.late


def test_a_reset_is_taken_back_for_a_while_only() -> None:
    session = Session("s")
    session.append(says(), answers(), ResetEvent(by="alice", window_before=1))
    with pytest.raises(NotUndoneError) as refused:
        undone(session, 3, by="bob", now=utc_now() + UNDO_WITHIN + timedelta(seconds=1))
    assert refused.value.late
    old = Session("old")
    old.append(says(), ResetEvent(by="alice"))
    with pytest.raises(NotUndoneError):
        undone(old, 2, by="bob", now=utc_now())


@given(st.lists(st.sampled_from(["says", "reset", "undo", "compact"]), max_size=30))
def test_an_undo_brings_back_exactly_what_was_before_its_reset(steps: list[str]) -> None:
    session, before = Session("s"), Session("s")
    summary: list[tuple[int, str]] = [(1, "")]  # where the window began, and what told the rest
    undoable, last = False, 0
    for number, step in enumerate(steps):
        match step:
            case "says":
                session.append(says(str(number)))
            case "reset":
                session.append(ResetEvent(by="a", window_before=session.window_from))
                summary.append((session.last_seq, ""))
            case "compact":
                start = max(session.window_from, session.last_seq)
                session.append(CompactionDoneEvent(summary=str(number), window_from=start))
                summary = [(start, str(number))]
            case _ if undoable:
                open_turns = session.open_turns
                session.append(undone(session, last, by="b", now=utc_now()))
                assert session.open_turns == open_turns
                summary.pop()
            case _:
                with pytest.raises(NotUndoneError):
                    undone(session, session.last_seq, by="b", now=utc_now())
                continue
        undoable = step == "reset" or (undoable and step == "says")
        last = session.last_seq if step == "reset" else last
        whole = [*before.events, *session.unsaved]
        session._events = [e for e in whole if e.seq >= session.window_from]  # as a store reads it
        session._length = len(session._events)
        told = last_compaction(session.events)
        assert session.window_from == summary[-1][0]
        assert (told.summary if told else "") == summary[-1][1]
