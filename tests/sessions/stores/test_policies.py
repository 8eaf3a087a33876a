"""Changes of policy, and finding sessions by where they are; on every engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from bot.events import ApprovalRequestedEvent, AssistantMessageEvent, ToolCall, utc_now
from bot.sessions.database.sql import SQLSessionManager
from bot.sessions.stores.homes import Home, HomeStore
from bot.sessions.stores.ids import SessionIds
from bot.sessions.stores.policies import ChangeKind, PolicyChange, PolicyStore, server_scope
from tests.sessions.conftest import opened
from tests.sessions.samples import says


@pytest.fixture(params=["sqlite", "postgres"])
async def manager(request: pytest.FixtureRequest) -> AsyncIterator[SQLSessionManager]:
    async with opened(request.param, request) as store:
        assert isinstance(store, SQLSessionManager)
        yield store


def change(scope: str, subject: str = "pay") -> PolicyChange:
    return PolicyChange(
        scope=scope, kind=ChangeKind.RULE, subject=subject, by="user-1", body={"mode": "never"}
    )


async def test_changes_are_found_by_scope_in_their_order(manager: SQLSessionManager) -> None:
    store = PolicyStore(manager.database)
    first, second, other = change(server_scope(7)), change("thread-1"), change(server_scope(8))
    for each in (first, second, other):
        await store.add(each)
    await manager.close()
    assert await store.of(server_scope(7), "thread-1") == [first, second]
    assert await store.of("thread-2") == []
    assert await store.since(first.at) == [first, second, other]
    assert await store.since(utc_now() + timedelta(hours=1)) == []


async def test_a_server_has_the_changes_of_its_sessions_too(manager: SQLSessionManager) -> None:
    store, homes = PolicyStore(manager.database), HomeStore(manager.database)
    await homes.put("thread-1", Home(7, 70))
    await homes.put("thread-2", Home(8, 80))
    changes = [change(scope) for scope in (server_scope(7), "thread-1", "thread-2", "dm-1")]
    for each in changes:
        await store.add(each)
    assert await store.in_server(7) == changes[:2]


def grants(scope: str) -> tuple[PolicyChange, PolicyChange]:
    body = {"arguments": {"to": "a secret"}}
    given = PolicyChange(scope=scope, kind=ChangeKind.GRANT, subject="pay", by="user-1", body=body)
    taken = PolicyChange(scope=scope, kind=ChangeKind.REVOKE, subject=given.change_id, by="user-1")
    return given, taken


@pytest.mark.parametrize("goes", ["erased", "deleted"])
async def test_what_was_allowed_in_a_session_goes_with_it(
    manager: SQLSessionManager, goes: str
) -> None:
    store, server = PolicyStore(manager.database), server_scope(7)
    session = await manager.create("thread-1")
    session.append(says("pay"), AssistantMessageEvent(text="Paid."))
    await manager.save(session)
    rule, other, everywhere = change("thread-1"), grants("thread-2"), grants(server)
    for each in (rule, *grants("thread-1"), *other, *everywhere):
        await store.add(each)
    if goes == "erased":
        [turn] = {event.turn_id for event in session.events}
        await manager.erase(session, [turn])
        assert len(await store.of("thread-1")) == 3
        again = await manager.get("thread-1")
        assert again is not None
        await manager.erase(again, None)
    else:
        assert await manager.delete("thread-1")
    assert await store.of("thread-1", "thread-2", server) == [rule, *other, *everywhere]


async def test_what_waits_in_a_server_is_found_without_its_logs(
    manager: SQLSessionManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.sessions.stores.ids.PAGE", 2)
    ids, homes = SessionIds(manager.database), HomeStore(manager.database)
    for number in range(5):  # open, and waiting for nobody
        await homes.put(f"busy-{number}", Home(7, 1))
        busy = await manager.create(f"busy-{number}")
        busy.append(says("hi"))
        await manager.save(busy)
    for session_id, server in (("thread-3", 7), ("thread-2", 8), ("thread-1", 7)):
        await homes.put(session_id, Home(server, 1))
        session = await manager.create(session_id)
        call = ToolCall(call_id=f"c-{session_id}", tool="pay", arguments="{}")
        session.append(says("hi"), AssistantMessageEvent(text="", tool_calls=(call,)))
        session.append(
            ApprovalRequestedEvent(
                approval_id=f"a-{session_id}",
                call_id=call.call_id,
                tool="pay",
                arguments={},
                arguments_hash="",
                requested_by="user-1",
                expires_at=utc_now(),
            )
        )
        await manager.save(session)
    assert await ids.waiting(7) == ["a-thread-3", "a-thread-1"]
    assert await ids.waiting(9) == []
