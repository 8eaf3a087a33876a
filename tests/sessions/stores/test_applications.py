"""Whose a database is: several processes that begin at once agree, and older ones are known."""

from __future__ import annotations

import asyncio

import pytest

from bot.errors import OtherApplicationError
from bot.sessions.database.sql import SQLSessionManager
from bot.sessions.stores.applications import OWNER, ApplicationStore
from bot.sessions.stores.homes import Home, HomeStore
from bot.sessions.stores.marks import MarkStore

OURS, THEIRS = 11, 22


async def lives_in(sql: SQLSessionManager, *servers: int) -> None:
    for server in servers:
        await sql.create(f"channel-{server}")
        await HomeStore(sql.database).put(f"channel-{server}", Home(server, server))


async def test_the_first_one_has_it_and_others_are_refused(sql: SQLSessionManager) -> None:
    store = ApplicationStore(sql.database)
    await store.check(OURS)  # which leaves it nobody's
    await store.claim(THEIRS)
    await store.claim(THEIRS)
    with pytest.raises(OtherApplicationError) as caught:
        await store.claim(OURS)
    assert (caught.value.owner, caught.value.application_id) == (str(THEIRS), OURS)
    await store.check(THEIRS)


async def test_of_several_at_once_one_has_it(
    sql: SQLSessionManager, another: SQLSessionManager
) -> None:
    stores = [ApplicationStore(each.database) for each in (sql, another)]
    claims = [stores[number % 2].claim(OURS + number % 3) for number in range(12)]
    refused = await asyncio.gather(*claims, return_exceptions=True)
    assert [type(each) for each in refused if each].count(OtherApplicationError) == 8
    assert refused.count(None) == 4


async def test_an_older_one_belongs_to_who_told_commands_from_there(sql: SQLSessionManager) -> None:
    store = ApplicationStore(sql.database)
    await lives_in(sql, 1, 2)
    await MarkStore(sql.database).set(f"commands-{THEIRS}", "abc")
    with pytest.raises(OtherApplicationError):
        await store.claim(OURS)
    assert await MarkStore(sql.database).get(OWNER) is None
    await store.claim(THEIRS)
    assert await store.unseen() == set()


@pytest.mark.parametrize("told", [(), (OURS, THEIRS)])
async def test_where_it_is_not_known_whose_it_was_no_server_counts_as_seen(
    sql: SQLSessionManager, told: tuple[int, ...]
) -> None:
    store = ApplicationStore(sql.database)
    await lives_in(sql, 1, 2)
    for each in told:
        await MarkStore(sql.database).set(f"commands-{each}", "abc")
    await store.claim(OURS)
    assert await store.unseen() == {1, 2}
    await store.seen_in(1)
    await store.seen_in(1)
    assert await store.unseen() == {2}


async def test_who_adopts_it_was_seen_in_no_server(sql: SQLSessionManager) -> None:
    store = ApplicationStore(sql.database)
    await store.claim(THEIRS)
    await lives_in(sql, 1, 2)
    assert not await store.adopt(THEIRS)
    assert await store.unseen() == set()
    assert await store.adopt(OURS)
    assert await store.unseen() == {1, 2}
    await store.check(OURS)
    with pytest.raises(OtherApplicationError):
        await store.check(THEIRS)
