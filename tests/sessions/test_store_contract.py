"""What the shipped managers promise beyond the four methods, in memory and in a file alike."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from bot.errors import DuplicateMessageError, SessionConflictError, StateError
from bot.events import RecordedEvent, ResetEvent, UserMessageEvent
from bot.sessions import Session, SessionStore, Standing
from tests.sessions.samples import answers, calls, decides, requests, results, says, starts


async def read(store: SessionStore, session_id: str = "s") -> Session:
    session = await store.get(session_id)
    assert session is not None
    return session


async def saved(store: SessionStore, session_id: str, *events: RecordedEvent) -> Session:
    session = await store.get_or_create(session_id, "alice")
    session.append(*events)
    await store.save(session)
    return session


# -- saving ----------------------------------------------------------------------------------------


async def test_get_refuses_an_id_that_is_none(store: SessionStore) -> None:
    with pytest.raises(ValueError):
        await store.get("")


async def test_get_returns_independent_objects(store: SessionStore) -> None:
    session = await saved(store, "s", says())
    session.state["a"] = [1]
    await store.save(session)
    session.state["a"].append(2)
    session.append(answers())
    again = await read(store)
    assert again.state == {"a": [1]}
    assert len(again.events) == 1


async def test_the_second_of_two_writers_conflicts_and_loses_nothing(store: SessionStore) -> None:
    first = await saved(store, "s", says())
    second = await read(store)
    first.append(answers("first"))
    await store.save(first)
    second.append(answers("second"))
    second.state["a"] = 1
    with pytest.raises(SessionConflictError):
        await store.save(second)
    assert [event.seq for event in second.unsaved] == [2]
    again = await read(store)
    assert again.events == first.events
    assert again.state == {}


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (says("other words", "discord-1"), DuplicateMessageError),
        (starts(), SessionConflictError),
        (results(), SessionConflictError),
        (requests(), SessionConflictError),
        (decides(), SessionConflictError),
    ],
)
async def test_what_may_exist_once_exists_once_in_the_store(
    store: SessionStore, event: RecordedEvent, error: type[Exception]
) -> None:
    log = [says("hi", "discord-1"), calls("c"), requests(), decides(), starts(), results()]
    await saved(store, "s", *log)
    other = await store.create("other")
    other.append(says("before"), event)
    with pytest.raises(error):
        await store.save(other)
    assert len(other.unsaved) == 2
    assert await store.read_log("other") == []
    assert (await read(store, "other")).version == 1


async def test_two_copies_in_one_save_are_refused(store: SessionStore) -> None:
    session = await store.create("s")
    session.append(says("hi", "discord-1"), says("hi", "discord-1"))
    with pytest.raises(DuplicateMessageError, match="discord-1"):
        await store.save(session)
    assert await store.read_log("s") == []


async def test_a_save_after_a_refused_one_works_on_what_is_read_again(store: SessionStore) -> None:
    await saved(store, "s", says("hi", "discord-1"))
    stale = await read(store)
    stale.append(says("hi", "discord-1"))
    with pytest.raises(DuplicateMessageError):
        await store.save(stale)
    again = await saved(store, "s", says("new", "discord-2"))
    assert (await read(store)).events == again.events


async def test_who_begins_to_hear_of_a_session_has_heard_nothing_yet(store: SessionStore) -> None:
    await saved(store, "s", says())
    with store.hearing("s") as heard:
        assert not heard.is_set()


async def test_a_save_of_nothing_new_is_no_save(store: SessionStore) -> None:
    session = await saved(store, "s", says())
    session.state["a"] = 1
    await store.save(session)
    await store.save(session)
    session.state["a"] = 1
    await store.save(session)
    assert session.version == (await read(store)).version == 3


async def test_state_alone_is_saved(store: SessionStore) -> None:
    session = await saved(store, "s", says())
    session.state = {"a": 1}
    await store.save(session)
    again = await read(store)
    del again.state["a"]
    await store.save(again)
    assert (await read(store)).state == {}


async def test_nested_state_that_is_not_json_saves_nothing(store: SessionStore) -> None:
    session = await store.create("s")
    session.append(says())
    session.state["list"] = []
    session.state["list"].append(datetime.now(UTC))
    with pytest.raises(StateError, match="list"):
        await store.save(session)
    assert await store.read_log("s") == []


async def test_a_session_made_by_hand_can_be_saved_once(store: SessionStore) -> None:
    session = Session(session_id="s", user_id="alice")
    session.append(says(), answers())
    await store.save(session)
    assert (await read(store)).events == session.events
    other = Session(session_id="s")
    other.append(says())
    with pytest.raises(SessionConflictError):
        await store.save(other)


async def test_a_message_and_the_reset_after_it_in_one_save_are_both_kept(
    store: SessionStore,
) -> None:
    await saved(store, "s", says(), ResetEvent(by="alice"))
    assert [event.seq for event in await store.read_log("s")] == [1, 2]
    assert [event.seq for event in (await read(store)).events] == [2]


async def test_an_undone_reset_brings_the_window_back(store: SessionStore) -> None:
    await saved(store, "s", says("one"), answers(), ResetEvent(by="alice"))
    session = await read(store)
    assert [event.seq for event in session.events] == [3]
    session.append(ResetEvent(by="alice", window_from=1))
    await store.save(session)
    assert [event.seq for event in (await read(store)).events] == [1, 2, 3, 4]
    await saved(store, "s", ResetEvent(by="alice"))
    assert [event.seq for event in (await read(store)).events] == [5]


async def test_events_appended_during_a_save_are_not_taken_for_stored(store: SessionStore) -> None:
    session = await saved(store, "s", says())
    session.append(answers())
    saving = asyncio.create_task(store.save(session))
    await asyncio.sleep(0)
    late = session.append(says("late"))
    await saving
    await store.save(session)
    assert session.unsaved == ()
    assert (await store.read_log("s"))[-1] == late[0]


# -- deleting --------------------------------------------------------------------------------------


async def test_a_deleted_session_is_gone_and_can_be_made_anew(store: SessionStore) -> None:
    old = await saved(store, "s", says("hi", "discord-1"), answers())
    assert await store.delete("s")
    assert not await store.delete("s")
    assert await store.get("s") is None
    assert await store.read_log("s") == []
    old.append(says())
    with pytest.raises(SessionConflictError):
        await store.save(old)
    new = await saved(store, "s", says("hi again", "discord-1"))
    assert (await read(store)).events == new.events
    with pytest.raises(SessionConflictError):
        await store.save(old)


# -- listing and finding ---------------------------------------------------------------------------


async def test_a_users_sessions_are_listed_in_pages_latest_first(store: SessionStore) -> None:
    start = datetime(2030, 1, 1, tzinfo=UTC)
    for number in range(7):
        at = start + timedelta(seconds=number // 3)  # three share a time
        await saved(store, f"s{number}", UserMessageEvent(text="hi", at=at))
    await store.create("of-bob", "bob")
    pages: list[Sequence[str]] = []
    before = None
    while page := await store.list_sessions("alice", limit=2, before=before):
        pages.append([info.session_id for info in page])
        before = page[-1].updated_at
    assert pages == [["s6", "s3", "s4", "s5"], ["s0", "s1", "s2"]]
    info = (await store.list_sessions("alice", limit=1))[0]
    assert (info.user_id, info.last_seq) == ("alice", 1)
    assert info.created_at.tzinfo is not None


async def test_sessions_with_open_turns_are_found_in_pages(store: SessionStore) -> None:
    for number in range(5):
        await saved(store, f"s{number}", says())
    await saved(store, "s1", answers())
    assert await store.open_sessions(limit=2) == ["s0", "s2"]
    assert await store.open_sessions(after="s2") == ["s3", "s4"]


async def test_the_whole_log_is_read_in_pages(store: SessionStore) -> None:
    await saved(store, "s", says("1"), answers("2"), ResetEvent(by="alice"), says("4"))
    first = await store.read_log("s", limit=3)
    rest = await store.read_log("s", after=first[-1].seq)
    assert [event.seq for event in (*first, *rest)] == [1, 2, 3, 4]
    assert await store.read_log("none") == []


async def test_an_approval_is_found_by_its_id_outside_the_window(store: SessionStore) -> None:
    session = await saved(store, "s", says(), calls("c", "d"), requests("a", "c"))
    await saved(store, "s", ResetEvent(by="alice"))
    found = await store.find_approval("a")
    assert found is not None
    assert (found.session_id, found.request, found.decision) == ("s", session.events[2], None)
    await saved(store, "s", decides("a"))
    found = await store.find_approval("a")
    assert found is not None
    assert found.decision is not None
    assert await store.find_approval("b") is None
    await saved(store, "s", decides("never requested"))
    assert await store.find_approval("never requested") is None


async def test_bytes_are_kept_once(store: SessionStore) -> None:
    sha256 = await store.put_blob(b"picture")
    assert await store.put_blob(b"picture") == sha256
    assert await store.get_blob(sha256) == b"picture"
    assert await store.get_blob("0") is None


# -- the lease -------------------------------------------------------------------------------------


async def test_how_a_session_stands_is_told(store: SessionStore) -> None:
    assert await store.standing("s") is None
    session = await saved(store, "s", says())
    assert await store.standing("s") == Standing(version=session.version, holder=None)
    holder = await store.register()
    await store.lease("s", holder)
    assert await store.standing("s") == Standing(version=session.version, holder=holder)


async def test_a_lease_is_one_holders_until_given_back(store: SessionStore) -> None:
    session = await saved(store, "s", says())
    ours, theirs = await store.register(), await store.register()
    assert (await store.lease("s", ours)).taken
    assert (await store.lease("s", ours)).taken
    refused = await store.lease("s", theirs)
    assert (refused.taken, refused.holder, refused.version) == (False, ours, session.version)
    session.append(answers())
    await store.save(session, release=theirs)  # not theirs to give
    assert not (await store.lease("s", theirs)).taken
    await store.save(session, release=ours)
    taken = await store.lease("s", theirs)
    assert (taken.taken, taken.holder, taken.version) == (True, theirs, session.version)


@pytest.mark.parametrize("is_new", [True, False])
async def test_a_save_can_take_the_lease_if_it_is_free(store: SessionStore, is_new: bool) -> None:
    session = Session("s") if is_new else await saved(store, "s", says("before"))
    ours, theirs = await store.register(), await store.register()
    session.append(says())
    assert await store.save_taking(session, ours)
    assert await store.standing("s") == Standing(version=session.version, holder=ours)
    session.append(answers())
    assert not await store.save_taking(session, theirs)
    session.append(says())
    assert await store.save_taking(session, ours)
    assert await store.standing("s") == Standing(version=session.version, holder=ours)
    assert (await read(store)).events == session.events


async def test_a_save_that_fails_takes_no_lease(store: SessionStore) -> None:
    session = await saved(store, "s", says())
    await saved(store, "s", says("meanwhile"))
    session.append(answers())
    with pytest.raises(SessionConflictError):
        await store.save_taking(session, await store.register())
    assert await store.standing("s") == Standing(version=3, holder=None)


async def test_giving_back_sees_what_was_recorded_meanwhile(store: SessionStore) -> None:
    session = await saved(store, "s", says())
    holder = await store.register()
    await store.lease("s", holder)
    await saved(store, "s", says("meanwhile"))
    with pytest.raises(SessionConflictError):
        await store.save(session, release=holder)
    assert (await store.lease("s", "other")).holder == holder


async def test_giving_back_what_is_not_held_changes_nothing(store: SessionStore) -> None:
    session = await saved(store, "s", says())
    await saved(store, "s", says("meanwhile"))
    await store.save(session, release=await store.register())
    assert (await read(store)).version == 3


async def test_a_lease_of_a_holder_that_ended_is_free(store: SessionStore) -> None:
    await saved(store, "s", says())
    await store.lease("s", await store.register())
    await store.close()
    assert (await store.lease("s", await store.register())).taken


async def test_there_is_no_lease_of_what_is_not_there(store: SessionStore) -> None:
    lease = await store.lease("s", await store.register())
    assert (lease.taken, lease.version) == (False, 0)


async def test_a_closed_store_opens_again(store: SessionStore) -> None:
    await store.initialize()
    session = await saved(store, "s", says())
    await store.close()
    await store.close()
    assert (await read(store)).events == session.events
