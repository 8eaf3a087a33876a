from __future__ import annotations

import asyncio
from dataclasses import replace

from bot.events import utc_now
from bot.sessions.database.sql import SQLSessionManager
from bot.sessions.stores.deliveries import Delivery, DeliveryStore, Progress
from bot.sessions.stores.homes import Home, HomeStore
from bot.sessions.stores.marks import MarkStore
from bot.sessions.stores.places import PlaceStore
from tests.sessions.samples import answers, says

SENT = Delivery(
    session_id="s",
    turn_id="turn-1",
    subject="call-1",
    purpose="answer",
    part=0,
    channel_id=10,
    message_id=2**62,
    content_hash="abc",
    final=False,
)


async def test_deliveries_are_found_by_session_turn_and_message(
    sql: SQLSessionManager,
) -> None:
    store = DeliveryStore(sql.database)
    await sql.create("s")
    second = replace(SENT, part=1, message_id=None)
    other = replace(SENT, turn_id="turn-2", message_id=5, final=True)
    await store.put(SENT, second, other)
    assert await store.of("s") == [SENT, second, other]
    assert await store.of("s", ["turn-1"]) == [SENT, second]
    assert await store.of("s", []) == []
    assert await store.by_message(5) == other
    assert await store.by_message(6) is None


async def test_a_delivery_takes_the_place_of_the_one_of_its_key(
    sql: SQLSessionManager,
) -> None:
    store = DeliveryStore(sql.database)
    await sql.create("s")
    await store.put(SENT)
    changed = replace(SENT, message_id=7, content_hash="new", final=True)
    await store.put(changed)
    assert await store.of("s") == [changed]
    await store.remove(SENT)
    assert await store.of("s") == []
    await store.put()
    await store.remove()


async def test_a_delivery_moves_to_another_key_of_its_turn(sql: SQLSessionManager) -> None:
    store = DeliveryStore(sql.database)
    await sql.create(SENT.session_id)
    await store.put(SENT)
    await store.move(SENT, "m7", "answer", 2)
    moved = replace(SENT, subject="m7", purpose="answer", part=2)
    assert await store.of(SENT.session_id) == [moved]


async def test_deliveries_go_with_their_session(sql: SQLSessionManager) -> None:
    store = DeliveryStore(sql.database)
    await sql.create("s")
    await store.put(SENT)
    await store.set_delivered_to("s", 5)
    await sql.delete("s")
    assert await store.of("s") == []
    await store.put(SENT)
    await store.set_delivered_to("s", 5)
    assert await store.progress("s") == Progress()
    await sql.create("s")
    assert await store.of("s") == []
    assert await store.progress("s") == Progress(version=1)


async def test_old_deliveries_are_pruned_where_all_is_shown(sql: SQLSessionManager) -> None:
    store = DeliveryStore(sql.database)
    for name in ("s", "behind"):
        session = await sql.create(name)
        session.append(says(), answers())
        await sql.save(session)
    await store.set_delivered_to("s", 2)
    old = [replace(SENT, turn_id=f"turn-{n}", message_id=n) for n in range(1, 6)]
    waits = replace(SENT, session_id="behind", message_id=0)
    unsent = replace(SENT, turn_id="turn-6", message_id=None)
    await store.put(*old, waits, unsent)
    assert await store.prune(5, limit=3) == 3
    assert await store.of("s") == [*old[3:], unsent]
    assert await store.prune(5, limit=3) == 1
    assert await store.prune(5, limit=3) == 0
    assert await store.of("s") == [old[4], unsent]
    assert await store.of("behind") == [waits]


async def test_places_in_which_nothing_was_said_for_long_are_pruned(
    sql: SQLSessionManager,
) -> None:
    places = PlaceStore(sql.database)
    await places.mark_all({0: 1, 1: 10, 2: 20, 3: 30})
    assert await places.prune(30, limit=1) == 1
    assert await places.prune(30, limit=5) == 1
    assert await places.all() == {0: 1, 3: 30}


async def test_a_place_is_never_seen_less(sql: SQLSessionManager) -> None:
    places = PlaceStore(sql.database)
    assert await places.seen(1) is None
    await places.mark_seen(1, 100)
    await places.mark_seen(1, 50)
    await places.mark_seen(2, 7)
    assert await places.seen(1) == 100
    await places.mark_all({2: 9, 3: 1, 1: 60})
    assert await places.all() == {1: 100, 2: 9, 3: 1}


async def test_recent_direct_messages_are_found_latest_first(sql: SQLSessionManager) -> None:
    places, began = PlaceStore(sql.database), utc_now()
    for session_id in ("dm-1", "channel-2", "dm-3", "dm-other"):
        await sql.create(session_id)
    assert await places.direct(since=began, limit=9) == [3, 1]
    assert await places.direct(since=began, limit=1) == [3]
    assert await places.direct(since=utc_now(), limit=9) == []


async def test_marks_are_kept(sql: SQLSessionManager) -> None:
    marks = MarkStore(sql.database)
    assert await marks.get("a") is None
    await marks.set("a", "1")
    await marks.set("a", "2")
    await sql.close()
    assert await marks.get("a") == "2"
    await marks.remove("a")
    assert await marks.get("a") is None


async def test_a_mark_is_replaced_by_who_knows_it(
    sql: SQLSessionManager, another: SQLSessionManager
) -> None:
    marks = MarkStore(sql.database)
    assert not await marks.replace("a", "0", "1")
    assert await marks.replace("a", None, "1")
    assert not await marks.replace("a", None, "2")
    callers = [MarkStore(manager.database) for manager in (sql, another) for _ in range(5)]
    done = await asyncio.gather(
        *(each.replace("a", "1", f"by {number}") for number, each in enumerate(callers))
    )
    assert await marks.get("a") == f"by {done.index(True)}"
    assert sum(done) == 1


async def test_something_is_done_once_by_one_caller(
    sql: SQLSessionManager, another: SQLSessionManager
) -> None:
    callers = [MarkStore(manager.database) for manager in (sql, another) for _ in range(5)]
    assert sum(await asyncio.gather(*(marks.once("hello") for marks in callers))) == 1
    await sql.close()
    assert not await callers[0].once("hello")


async def test_a_session_has_one_home_for_as_long_as_it_is_there(
    sql: SQLSessionManager,
) -> None:
    homes = HomeStore(sql.database)
    await homes.put("thread-1", Home(7, 70))  # before its first message is stored
    await sql.create("thread-1")
    await homes.put("thread-2", Home(7, 70))
    await homes.put("thread-2", Home(7, 71))
    await homes.put("thread-3", Home(8, 80))
    assert await homes.of("thread-2") == Home(7, 71)
    assert await homes.sessions_in(7) == ["thread-1", "thread-2"]
    assert await homes.sessions_in(7, after="thread-1", limit=1) == ["thread-2"]
    await sql.delete("thread-1")
    assert await homes.of("thread-1") is None


async def test_where_a_session_is_is_written_only_where_that_is_news(
    sql: SQLSessionManager,
) -> None:
    homes, written = HomeStore(sql.database), 0

    def count(kind: str, seconds: float) -> None:
        nonlocal written
        written += kind == "write"

    sql.database.on_done = count
    await homes.put("thread-1", Home(7, 70))
    await homes.put("thread-1", Home(7, 70))
    assert written == 1


async def test_where_sessions_are_is_found_by_channel_and_server(
    sql: SQLSessionManager,
) -> None:
    homes = HomeStore(sql.database)
    for name, home in (("channel-70", (7, 70)), ("thread-1", (7, 70)), ("thread-2", (8, 80))):
        await homes.put(name, Home(*home))
    assert await homes.sessions_on(70) == ["channel-70", "thread-1"]
    assert await homes.sessions_on(70, limit=1) == ["channel-70"]
    assert await homes.servers() == [7, 8]
    assert await homes.channels(7) == [70]
    await homes.remove("thread-2")
    assert await homes.servers() == [7]


async def test_a_place_that_is_gone_is_forgotten(sql: SQLSessionManager) -> None:
    places = PlaceStore(sql.database)
    await places.mark_all({1: 5, 2: 6})
    await places.forget(1)
    assert await places.all() == {2: 6}


async def test_marks_about_somebody_are_forgotten(sql: SQLSessionManager) -> None:
    marks = MarkStore(sql.database)
    assert await marks.once("stranger-7")
    assert await marks.once("stranger-77")
    await marks.forget_user("user-7")
    assert await marks.once("stranger-7")
    assert not await marks.once("stranger-77")
