"""What the four methods promise, of every manager: ours and other people's."""

from __future__ import annotations

import asyncio

import pytest

from bot.errors import SessionExistsError, StateError
from bot.events import CompactionDoneEvent, ResetEvent
from bot.sessions import Session, SessionManager
from tests.sessions.samples import answers, calls, decides, requests, says, starts


async def read(manager: SessionManager, session_id: str = "s") -> Session:
    session = await manager.get(session_id)
    assert session is not None
    return session


async def test_what_is_not_there_is_none(manager: SessionManager) -> None:
    assert await manager.get("s") is None


async def test_create_never_overwrites(manager: SessionManager) -> None:
    session = await manager.create("s", "alice")
    session.append(says())
    await manager.save(session)
    with pytest.raises(SessionExistsError):
        await manager.create("s", "bob")
    assert (await read(manager)).user_id == "alice"
    assert len((await read(manager)).events) == 1


@pytest.mark.parametrize("session_id", ["", "id\n", " id", "x" * 256, "a\0b"])
async def test_an_id_that_is_none_is_refused(manager: SessionManager, session_id: str) -> None:
    with pytest.raises(ValueError):
        await manager.create(session_id)


async def test_two_callers_that_race_get_one_session(manager: SessionManager) -> None:
    sessions = await asyncio.gather(*(manager.get_or_create("s", "alice") for _ in range(5)))
    assert {session.session_id for session in sessions} == {"s"}
    assert len({session.created_at for session in sessions}) == 1


async def test_everything_of_a_session_comes_back(manager: SessionManager) -> None:
    session = await manager.create("s", "alice")
    session.state["mood"] = {"today": ["good", None, 1.5]}
    session.append(says("delete it", "discord-1"), calls("c"), requests(), says("and?"))
    await manager.save(session)
    again = await read(manager)
    assert again.events == session.events
    assert again.state == {"mood": {"today": ["good", None, 1.5]}}
    assert (again.user_id, again.created_at) == ("alice", session.created_at)
    assert (again.updated_at, again.last_seq) == (session.updated_at, 4)
    assert again.open_turns == session.open_turns
    assert again.waits


async def test_a_session_goes_on_where_it_was(manager: SessionManager) -> None:
    session = await manager.create("s")
    session.append(says(), calls("c"), requests())
    await manager.save(session)
    again = await read(manager)
    decision, start = again.append(decides(), starts())
    await manager.save(again)
    assert (decision.seq, start.seq) == (4, 5)
    assert decision.turn_id == start.turn_id == session.events[0].turn_id
    assert not (await read(manager)).waits
    again.append(answers())
    await manager.save(again)
    assert (await read(manager)).open_turns == ()


async def test_only_the_window_comes_back(manager: SessionManager) -> None:
    session = await manager.create("s")
    session.append(says("one"), answers(), says("two"))
    await manager.save(session)
    session.append(CompactionDoneEvent(summary="...", window_from=3), answers())
    await manager.save(session)
    again = await read(manager)
    assert [event.seq for event in again.events] == [3, 4, 5]
    assert (again.window_from, again.last_seq) == (3, 5)


async def test_state_survives_a_reset(manager: SessionManager) -> None:
    session = await manager.create("s")
    session.state["mood"] = "good"
    session.append(says(), ResetEvent(by="alice"))
    await manager.save(session)
    again = await read(manager)
    assert again.state == {"mood": "good"}
    assert [event.seq for event in again.events] == [2]
    assert again.open_turns == ()


async def test_state_that_ceased_to_be_json_is_refused_by_name(manager: SessionManager) -> None:
    session = await manager.create("s")
    session.state["list"] = []
    session.state["list"].append({1, 2})
    if type(manager).__name__ != "ObjectManager":  # which never looks inside
        with pytest.raises(StateError, match="list"):
            await manager.save(session)


async def test_sessions_do_not_mix(manager: SessionManager) -> None:
    for session_id in ("a", "b"):
        session = await manager.create(session_id)
        session.append(says(session_id))
        await manager.save(session)
    assert (await read(manager, "b")).events[0] != (await read(manager, "a")).events[0]
