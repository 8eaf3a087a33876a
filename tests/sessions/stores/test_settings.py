"""The settings of servers and channels, on both engines."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.events import utc_now
from bot.sessions import PostgresSessionManager, SQLiteSessionManager
from bot.sessions.stores.settings import Change, Scope, SettingsStore, Stored
from tests.sessions.conftest import made

SERVER, CHANNEL = Scope(2**62), Scope(2**62, 7)
FIRST = Change(
    scope=SERVER, version=1, value='{"model":"a"}', field="model", by="user-1", at=utc_now()
)

Manager = SQLiteSessionManager | PostgresSessionManager


@pytest.fixture(params=["sqlite", "postgres"])
async def manager(request: pytest.FixtureRequest) -> Manager:
    manager = made(request.param, request)
    assert isinstance(manager, SQLiteSessionManager | PostgresSessionManager)
    return manager


async def test_the_last_change_of_a_scope_holds_and_is_kept(manager: Manager) -> None:
    store = SettingsStore(manager.database)
    assert await store.of(SERVER, CHANNEL) == [Stored(), Stored()]
    assert await store.put(FIRST)
    assert await store.put(replace(FIRST, version=2, value='{"model":"b"}'))
    assert await store.put(replace(FIRST, scope=CHANNEL, value="{}"))
    await manager.close()
    assert await store.of(SERVER, CHANNEL) == [Stored(2, '{"model":"b"}'), Stored(1, "{}")]
    assert await store.of(Scope(1)) == [Stored()]
    await manager.close()


async def test_of_two_changes_at_once_one_comes_first(manager: Manager) -> None:
    store = SettingsStore(manager.database)
    changes = [replace(FIRST, by=f"user-{number}") for number in range(5)]
    assert sum(await asyncio.gather(*map(store.put, changes))) == 1
    await manager.close()


async def test_who_made_a_change_is_forgotten_and_what_they_set_is_not(manager: Manager) -> None:
    store = SettingsStore(manager.database)
    other = replace(FIRST, scope=CHANNEL, by="user-2")
    await store.put(FIRST)
    await store.put(other)
    await store.forget_user("user-1")
    assert {each.by for each in await store.changes(SERVER.server_id)} == {"", "user-2"}
    assert await store.of(SERVER) == [Stored(1, FIRST.value)]
    await manager.close()


async def test_a_servers_changes_are_told_latest_first(manager: Manager) -> None:
    store = SettingsStore(manager.database)
    later = replace(FIRST, scope=CHANNEL, at=FIRST.at + timedelta(seconds=1))
    other = replace(FIRST, scope=Scope(3))
    for change in (FIRST, later, other):
        await store.put(change)
    assert await store.changes(SERVER.server_id) == [later, FIRST]
    assert await store.changes(SERVER.server_id, limit=1) == [later]
    assert CHANNEL.server == SERVER
    await manager.close()
