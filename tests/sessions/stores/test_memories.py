"""What is remembered of people: found by its words, theirs alone, and gone once forgotten."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.errors import NoRoomError
from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    Author,
    Decision,
    Recalled,
    Receipt,
    ToolCall,
    ToolResultEvent,
    ToolStatus,
    UserMessageEvent,
    utc_now,
)
from bot.sessions import Session, SQLiteSessionManager
from bot.sessions.database.sql import SQLSessionManager
from bot.sessions.stores.consents import ConsentStore
from bot.sessions.stores.memories import LONGEST, MOST, InMemoryMemoryManager, MemoryManager
from bot.sessions.stores.redacting import FORGOTTEN, without
from bot.sessions.stores.sql_memories import memories_in, owner_word
from bot.sessions.stores.words import words
from tests.sessions.conftest import opened
from tests.sessions.samples import answers

ALICE, BOB = "user-1", "user-2"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def memories(request: pytest.FixtureRequest) -> AsyncIterator[MemoryManager]:
    if request.param == "memory":
        yield InMemoryMemoryManager()
        return
    async with opened(request.param, request) as store:
        assert isinstance(store, SQLSessionManager)
        yield memories_in(store.database)


@pytest.fixture(params=["sqlite", "postgres"])
async def sessions(request: pytest.FixtureRequest) -> AsyncIterator[SQLSessionManager]:
    async with opened(request.param, request) as store:
        assert isinstance(store, SQLSessionManager)
        yield store


async def texts(memories: MemoryManager, user_id: str, query: str) -> list[str]:
    return [each.text for each in await memories.recall(user_id, query)]


async def test_what_has_words_in_common_is_recalled_the_best_first(
    memories: MemoryManager,
) -> None:
    for text in ("drinks green tea", "lives in Lisbon", "prefers tea from green Japan leaves"):
        await memories.remember(ALICE, text)
    assert await texts(memories, ALICE, "which TEA?") != []
    assert "lives in Lisbon" not in await texts(memories, ALICE, "tea")
    best = await texts(memories, ALICE, "green leaves of Japan")
    assert best[0] == "prefers tea from green Japan leaves"
    assert await texts(memories, ALICE, "?!") == []
    assert await texts(memories, ALICE, 'nothing "AND NOT (') == []
    assert len(await memories.recall(ALICE, "tea", 1)) == 1


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("mag Äpfel", "APFEL?"),
        ("我喜欢绿茶", "绿茶 好喝吗"),
        ("好きな食べ物は寿司です", "寿司"),
        ("любит чай", "ЧАЙ"),
        ("room 7", "7"),
        ("wrote report_v2.txt", "report"),
    ],
)
async def test_any_script_is_searched(memories: MemoryManager, text: str, query: str) -> None:
    await memories.remember(ALICE, text)
    await memories.remember(ALICE, "something else entirely")
    assert await texts(memories, ALICE, query) == [text]


async def test_a_database_knows_forms_of_a_word(sessions: SQLSessionManager) -> None:
    memories = memories_in(sessions.database)
    await memories.remember(ALICE, "likes running")
    assert await texts(memories, ALICE, "what runs?") == ["likes running"]


async def test_nobody_gets_what_is_anothers(memories: MemoryManager) -> None:
    made = await memories.remember(ALICE, "is allergic to nuts")
    await memories.remember(BOB, "collects nuts")
    assert await texts(memories, BOB, f"nuts allergic {owner_word(ALICE)}") == ["collects nuts"]
    assert [each.text for each in await memories.list(BOB)] == ["collects nuts"]
    assert not await memories.forget(BOB, made.memory_id)
    assert await texts(memories, ALICE, "nuts") == ["is allergic to nuts"]
    assert await memories.recall("user-3", "nuts") in ([], ())
    await memories.forget_user("user-3")
    assert not await memories.forget("user-3", made.memory_id)


async def test_what_is_forgotten_is_not_found(memories: MemoryManager) -> None:
    first = await memories.remember(ALICE, "drinks tea")
    await memories.remember(ALICE, "drinks coffee")
    await memories.remember(BOB, "drinks water")
    assert await memories.forget(ALICE, first.memory_id)
    assert not await memories.forget(ALICE, first.memory_id)
    assert await texts(memories, ALICE, "drinks tea") == ["drinks coffee"]
    await memories.forget_user(ALICE)
    assert list(await memories.list(ALICE)) == []
    assert await texts(memories, BOB, "drinks") == ["drinks water"]


async def test_the_latest_is_listed_first_and_none_twice(memories: MemoryManager) -> None:
    await memories.remember(ALICE, "drinks tea")
    again = await memories.remember(ALICE, " drinks\n tea ")
    await memories.remember(ALICE, "lives in Lisbon")
    assert again.text == "drinks tea"
    assert [each.text for each in await memories.list(ALICE)] == ["lives in Lisbon", "drinks tea"]


async def test_there_is_an_end_to_what_is_kept(memories: MemoryManager) -> None:
    for number in range(MOST):
        await memories.remember(ALICE, f"fact {number}")
    with pytest.raises(NoRoomError):
        await memories.remember(ALICE, "one more")
    await memories.remember(ALICE, "fact 7")
    for wrong in ("", "\n", "x" * (LONGEST + 1)):
        with pytest.raises(ValueError):
            await memories.remember(BOB, wrong)


def test_words_are_looked_at_up_to_a_number() -> None:
    assert len(words(" ".join(f"w{n}" for n in range(1000)))) == 64
    assert words("a the I 人 x_y") == ("人",)


async def test_consent_is_for_channels_by_name(sessions: SQLSessionManager) -> None:
    consents = ConsentStore(sessions.database)
    await consents.turn_on(ALICE, 7)
    assert not await consents.allows(ALICE, [7])
    await consents.turn_on(ALICE)
    await consents.turn_on(ALICE)
    assert await consents.is_on(ALICE)
    assert await consents.allows(ALICE, [6, 7])
    assert not await consents.allows(ALICE, [6])
    assert not await consents.is_on(BOB)
    await consents.turn_off(ALICE, 7)
    assert not await consents.allows(ALICE, [7])
    assert await consents.is_on(ALICE)
    await consents.forget_user(ALICE)
    assert not await consents.is_on(ALICE)


# -- in the logs -----------------------------------------------------------------------------------


async def kept_and_recalled(sessions: SQLSessionManager) -> str:
    """Keep something in one session, and recall it in another; return its id."""
    memories = memories_in(sessions.database)
    made = await memories.remember(ALICE, "has a dog called Zorroastra")
    first = await sessions.create("one")
    call = ToolCall(
        call_id="c1",
        tool="remember",
        arguments='{"text": "has a dog called Zorroastra"}',
        extra={"id": "call_0", "signature": "Zorroastra"},
    )
    other = ToolCall(call_id="c2", tool="roll_dice", arguments="{}")
    turn = first.append(UserMessageEvent(text="a dog!", author=Author(user_id=ALICE)))[0].turn_id
    request = ApprovalRequestedEvent(
        approval_id="a1",
        call_id="c1",
        tool="remember",
        arguments={"text": "Zorroastra?"},
        arguments_hash="h",
        requested_by=ALICE,
        expires_at=utc_now(),
    )
    decision = ApprovalDecidedEvent(
        approval_id="a1",
        decision=Decision.APPROVED,
        by=BOB,
        arguments={"text": "Zorroastra!"},
    )
    first.append(
        AssistantMessageEvent(
            turn_id=turn, text="", tool_calls=(call, other), reasoning="Zorroastra"
        ),
        request,
        replace(request, approval_id="a2", call_id="c2", arguments={}),
        decision,
        replace(decision, approval_id="a2", arguments=None),
        ToolResultEvent(
            call_id="c1",
            status=ToolStatus.OK,
            output="Remembered: Zorroastra",
            receipt=Receipt(text="I will remember: Zorroastra", undo=made.memory_id),
        ),
        ToolResultEvent(call_id="c2", status=ToolStatus.OK, output="6"),
        AssistantMessageEvent(turn_id=turn, text="Noted."),
    )
    await sessions.save(first)
    second = await sessions.create("two")
    recalled = Recalled(memory_id=made.memory_id, text=made.text)
    kept = Recalled(memory_id="memory-0", text="drinks tea")
    second.append(
        UserMessageEvent(text="hi", author=Author(user_id=ALICE), recalled=(recalled, kept)),
        answers("Hello."),
    )
    await sessions.save(second)
    return made.memory_id


async def test_a_forgotten_memory_is_taken_out_of_the_logs(sessions: SQLSessionManager) -> None:
    name = await kept_and_recalled(sessions)
    before = await sessions.get("two")
    assert before is not None
    assert await memories_in(sessions.database).forget(ALICE, name)
    for session_id in ("one", "two"):
        session = await sessions.get(session_id)
        assert session is not None
        assert "Zorroastra" not in str(session.to_dict())
        assert session.version > 1
    one, two = await sessions.read_log("one"), await sessions.read_log("two")
    assert isinstance(two[0], UserMessageEvent)
    assert [each.text for each in two[0].recalled] == ["drinks tea"]
    called = one[1]
    assert isinstance(called, AssistantMessageEvent)
    assert called.tool_calls[0].extra == {"id": "call_0"}
    assert called.tool_calls[1].arguments == "{}"
    results = [each for each in one if isinstance(each, ToolResultEvent)]
    assert [each.output for each in results] == [FORGOTTEN, "6"]


async def test_a_log_that_tells_of_others_only_is_left_as_it_is(
    sessions: SQLSessionManager,
) -> None:
    name = await kept_and_recalled(sessions)
    third = await sessions.create("three")
    other = Recalled(memory_id="memory-0", text="drinks tea")
    third.append(UserMessageEvent(text="hi", author=Author(user_id=ALICE), recalled=(other,)))
    await sessions.save(third)
    assert await memories_in(sessions.database).forget(ALICE, name)
    after = await sessions.get("three")
    assert after is not None
    assert after.to_dict() == third.to_dict()


async def test_all_of_somebodys_go_from_the_logs_at_once(sessions: SQLSessionManager) -> None:
    await kept_and_recalled(sessions)
    await memories_in(sessions.database).forget_user(ALICE)
    logs = [await sessions.read_log("one"), await sessions.read_log("two")]
    assert "Zorroastra" not in str(logs)


def test_a_turn_without_it_is_left_alone() -> None:
    session = Session("s")
    turn = session.append(UserMessageEvent(text="hi", author=Author(user_id=ALICE)), answers())
    assert list(without(turn, ["memory-1"])) == []
    call = ToolCall(call_id="c", tool="remember", arguments="{}")
    asked = AssistantMessageEvent(text="", tool_calls=(call,))
    done = ToolResultEvent(
        call_id="c", status=ToolStatus.OK, output="x", receipt=Receipt(text="x", undo="memory-1")
    )
    changed = list(without([asked, done], ["memory-1"]))
    assert isinstance(changed[0], AssistantMessageEvent)
    assert changed[0].tool_calls[0].extra == {}
    assert changed[1] == replace(done, output=FORGOTTEN, receipt=Receipt(text=FORGOTTEN))


def files_with(folder: Path, word: bytes) -> list[str]:
    return [file.name for file in folder.iterdir() if word in file.read_bytes().lower()]


async def test_a_forgotten_line_is_gone_from_the_file(tmp_path: Path) -> None:
    store = SQLiteSessionManager(tmp_path / "parley.db")
    name = await kept_and_recalled(store)
    memories = memories_in(store.database)
    assert files_with(tmp_path, b"zorroastra") != []
    for number in range(50):
        await memories.remember(BOB, f"bob's fact {number} of many")
    assert await memories.forget(ALICE, name)
    await store.purge()
    assert files_with(tmp_path, b"zorroastra") == []
    assert await texts(memories, BOB, "many facts")
    await store.close()
