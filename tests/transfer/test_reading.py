"""What files tell: every call closed, every mistake named by its place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.agent.history.messages import history
from bot.errors import SessionExistsError, TransferError
from bot.events import (
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    Attachment,
    Author,
    CompactionDoneEvent,
    RecordedEvent,
    ToolCall,
    ToolResultEvent,
    ToolStartedEvent,
    ToolStatus,
    UserMessageEvent,
    utc_now,
)
from bot.sessions import Session, SQLiteSessionManager
from bot.sessions.stores.deliveries import DeliveryStore
from bot.sessions.stores.rests import RestStore
from bot.transfer import export_session, read_file, take_in
from bot.transfer.taking import made

ASKED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "call_0", "type": "function", "function": {"name": "dice", "arguments": "{}"}}
    ],
}
RESULT = {"role": "tool", "tool_call_id": "call_0", "content": "6"}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "roll", "name": "Ann"},
    ASKED,
    RESULT,
    {"role": "assistant", "content": "A six."},
    {"role": "user", "content": [{"type": "text", "text": "again"}, {"type": "image_url"}]},
    ASKED,
    RESULT,
    {"role": "assistant", "content": "Six again."},
]


def written(folder: Path, data: object, name: str = "talk.json") -> Path:
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def session_of(folder: Path, data: object) -> Session:
    return made("s", read_file(written(folder, data)))


def told(session: Session) -> list[tuple[str, Any]]:
    return [(each["role"], each["content"]) for each in history(session.events)]


def of_kind(events: Sequence[RecordedEvent], kind: type[RecordedEvent]) -> list[Any]:
    return [each for each in events if isinstance(each, kind)]


@pytest.mark.parametrize("shape", ["list", "object", "lines", "one line"])
def test_a_list_of_messages_is_read_in_every_shape(tmp_path: Path, shape: str) -> None:
    data: object = TALK
    if shape == "object":
        data = {"model": "m", "messages": TALK}
    elif shape == "lines":
        data = "\n".join(json.dumps(each) for each in TALK) + "\n\n"
    elif shape == "one line":
        data = json.dumps({"messages": TALK}) + "\n"
    found = read_file(written(tmp_path, data))
    assert found.left_out == ["1 system message"]
    session = made("s", found)
    assert told(session) == [
        ("user", "[from Ann (Ann)]\nroll"),
        ("assistant", None),
        ("tool", "6"),
        ("assistant", "A six."),
        ("user", "again\n[note: Something of the kind image_url was left out.]"),
        ("assistant", None),
        ("tool", "6"),
        ("assistant", "Six again."),
    ]
    calls = [call for e in of_kind(session.events, AssistantMessageEvent) for call in e.tool_calls]
    assert len({call.call_id for call in calls}) == 2
    assert session.open_turns == ()


def test_calls_without_results_are_closed(tmp_path: Path) -> None:
    again = {"role": "user", "content": "hello?"}
    session = session_of(tmp_path, [TALK[1], ASKED, again, ASKED])
    results = of_kind(session.events, ToolResultEvent)
    assert [each.status for each in results] == [ToolStatus.UNKNOWN, ToolStatus.UNKNOWN]
    assert session.open_turns == ()
    assert [role for role, _ in told(session)] == [
        "user", "assistant", "tool", "user", "assistant", "tool",
    ]  # fmt: skip


def test_functions_as_they_were_called_earlier_are_read(tmp_path: Path) -> None:
    call = {"role": "assistant", "function_call": {"name": "dice", "arguments": {"n": 1}}}
    result = {"role": "function", "name": "dice", "content": "6"}
    refused = {"role": "assistant", "content": "", "refusal": "No."}
    nothing = {"role": "assistant", "content": ""}
    session = session_of(tmp_path, [TALK[1], nothing, call, result, refused, {"role": "user"}])
    assert [content for _, content in told(session)][1:] == [None, "6", "No."]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ([TALK[1], {"role": "narrator"}], "message 2: there is no role 'narrator'"),
        ([TALK[1], "hello"], "message 2: it is no object"),
        ([RESULT], "message 1: it is the result of 'call_0', which nobody called for"),
        ([TALK[1], ASKED, RESULT, RESULT], "message 4: it is the result of"),
        (
            [{"role": "assistant", "tool_calls": [{"id": "x"}]}],
            "message 1: a tool call has no name",
        ),
        ([{"role": "assistant", "tool_calls": ["x"]}], "message 1: its tool calls are no list"),
        ([{"role": "assistant", "tool_calls": ASKED["tool_calls"] * 2}], "two tool calls have"),  # type: ignore[operator]
        ([{"role": "user", "content": 7}], "message 1: its content is neither"),
        ("7", "it is no list of messages"),
        ('{"role": "user"}\n{oops', "line 2: it is not JSON"),
        ('{"messages": []}\n{"messages": []}', "line 1: it is a conversation of its own"),
        ({"format": "parley", "version": 7}, "it is of version 7"),
        ({"format": "parley", "version": 1, "events": 7}, "its events are no list"),
        (
            {"format": "parley", "version": 1, "events": [{"kind": "reset"}]},
            "event 1: not an event",
        ),
        (
            {"format": "parley", "version": 1, "events": [{"kind": "new", "seq": 2}]},
            "event 1: it has the number 2",
        ),
        (
            {"format": "parley", "version": 1, "events": [], "files": {"a": "§"}},
            "file a: it is not",
        ),
        ({"format": "parley", "version": 1, "events": [], "created_at": "soon"}, "no time: 'soon'"),
    ],
)
def test_what_is_wrong_is_named_by_its_place(tmp_path: Path, data: object, why: str) -> None:
    with pytest.raises(TransferError, match=r"talk\.json: ") as raised:
        read_file(written(tmp_path, data))
    assert why in str(raised.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(TransferError, match=r"nothing\.json"):
        read_file(tmp_path / "nothing.json")
    path = tmp_path / "bytes.json"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(TransferError, match=r"bytes\.json"):
        read_file(path)
    with pytest.raises(TransferError, match="it is not JSON"):
        read_file(written(tmp_path, "{"), "parley")
    with pytest.raises(TransferError, match="no export of Parley"):
        read_file(written(tmp_path, TALK), "parley")


# -- into a store, and out of it -------------------------------------------------------------------


async def rich(sqlite: SQLiteSessionManager) -> None:
    """Store a session with everything in it: files, a gated call, a summary, and an open turn."""
    sha256 = await sqlite.put_blob(b"picture")
    session = await sqlite.create("old", "user-1")
    session.state["mood"] = "good"
    file = Attachment(sha256=sha256, media_type="image/png", name="a.png")
    call = ToolCall(call_id="call-1", tool="delete", arguments="{}", extra={"id": "call_0"})
    said = UserMessageEvent(
        text="delete", author=Author(user_id="user-1"), attachments=(file,), source_id="discord-5"
    )
    turn = session.append(said)[0].turn_id
    session.append(
        AssistantMessageEvent(turn_id=turn, text="", tool_calls=(call,)),
        ApprovalRequestedEvent(
            approval_id="approval-1",
            call_id="call-1",
            tool="delete",
            arguments={},
            arguments_hash="h",
            requested_by="user-1",
            expires_at=utc_now(),
        ),
    )
    session.append(*_approved(turn))
    session.append(CompactionDoneEvent(summary="They deleted.", window_from=8))
    session.append(UserMessageEvent(text="and now?", source_id="discord-6"))
    await sqlite.save(session)


def _approved(turn: str) -> list[RecordedEvent]:
    from bot.events import ApprovalDecidedEvent, Decision

    return [
        ApprovalDecidedEvent(approval_id="approval-1", decision=Decision.APPROVED, by="user-2"),
        ToolStartedEvent(call_id="call-1", holder="h"),
        ToolResultEvent(call_id="call-1", status=ToolStatus.OK, output="gone"),
        AssistantMessageEvent(turn_id=turn, text="It is gone."),
    ]


async def test_an_export_is_read_back_beside_the_session_it_is_of(
    sqlite: SQLiteSessionManager, tmp_path: Path
) -> None:
    await rich(sqlite)
    exported = await export_session(sqlite, "old")
    found = read_file(written(tmp_path, exported))
    new = await take_in(sqlite, "new", found)
    old = await sqlite.get("old")
    stored = await sqlite.get("new")
    assert old is not None
    assert stored is not None
    assert stored.to_dict() == new.to_dict()
    assert (stored.user_id, stored.created_at) == ("user-1", old.created_at)
    assert dict(stored.state) == {"mood": "good"}
    before, after = await sqlite.read_log("old"), await sqlite.read_log("new")
    assert [each.kind for each in after] == [*(each.kind for each in before), "turn_ended"]
    assert [each.at for each in after[:-1]] == [each.at for each in before]
    assert {each.turn_id for each in before}.isdisjoint(
        {each.turn_id for each in after if each.turn_id}
    )
    assert told(stored) == told(old)
    assert stored.open_turns == ()
    assert (await DeliveryStore(sqlite.database).progress("new")).seq == stored.last_seq
    behind = await RestStore(sqlite.database).behind("", utc_now())
    assert "new" not in {each.session_id for each in behind}
    again = await export_session(sqlite, "new")
    assert again["files"] == exported["files"]


async def test_files_go_with_it_into_another_store(
    sqlite: SQLiteSessionManager, tmp_path: Path
) -> None:
    await rich(sqlite)
    path = written(tmp_path, await export_session(sqlite, "old"))
    other = SQLiteSessionManager(tmp_path / "other.db")
    session = await take_in(other, "old", read_file(path))
    [message] = of_kind(await other.read_log("old", limit=1), UserMessageEvent)
    assert await other.get_blob(message.attachments[0].sha256) == b"picture"
    assert session.events
    await other.close()


async def test_nothing_is_overwritten_and_nothing_half_done(
    sqlite: SQLiteSessionManager, tmp_path: Path
) -> None:
    await rich(sqlite)
    found = read_file(written(tmp_path, TALK))
    with pytest.raises(SessionExistsError):
        await take_in(sqlite, "old", found)
    with pytest.raises(TransferError, match="nothing in it"):
        await take_in(sqlite, "new", read_file(written(tmp_path, [])))
    bad = json.dumps({"format": "parley", "version": 1, "events": [], "state": {"x": float("nan")}})
    with pytest.raises(TransferError, match="its state cannot be kept"):
        await take_in(sqlite, "new", read_file(written(tmp_path, bad)))
    with pytest.raises(ValueError, match="session id"):
        await take_in(sqlite, "", found)
    assert await sqlite.get("new") is None
    with pytest.raises(TransferError, match="no session 'new'"):
        await export_session(sqlite, "new")


ENTRY = {"kind": "user_message", "seq": 1, "turn_id": "t", "at": "2026-01-01T00:00:00+00:00"}
CALL = {"call_id": "c", "tool": "dice", "arguments": 5}
OWN = {"format": "parley", "version": 1, "events": [{**ENTRY, "text": "hi"}]}


@pytest.mark.parametrize(
    "data",
    [
        "[" * 200_000,
        [{"role": "assistant", "tool_calls": 5, "function_call": {"name": "dice"}}],
        {**OWN, "user_id": 5},
        {**OWN, "files": [1, 2]},
        {**OWN, "events": [{**ENTRY, "text": 5}]},
        {**OWN, "events": [{**ENTRY, "text": "hi", "turn_id": ["t"]}]},
        {**OWN, "events": [{**ENTRY, "text": "hi", "author": {"user_id": "u", "name": 7}}]},
        {**OWN, "events": [{**ENTRY, "text": "hi", "at": "0001-01-01T00:00:00+14:00"}]},
        {**OWN, "events": [{**ENTRY, "kind": "assistant_message", "tool_calls": [CALL]}]},
        {**OWN, "events": [{**ENTRY, "kind": "of_a_newer_version", "turn_id": {}}]},
    ],
)
def test_values_of_other_kinds_are_refused_in_a_sentence(tmp_path: Path, data: object) -> None:
    with pytest.raises(TransferError):
        read_file(written(tmp_path, data))


def test_what_a_log_may_have_is_taken(tmp_path: Path) -> None:
    assert len(read_file(written(tmp_path, OWN)).events) == 1
