"""Sessions that nagents itself has made."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bot.errors import TransferError
from bot.events import AssistantMessageEvent, CompactionDoneEvent
from bot.transfer import read_file
from bot.transfer.taking import made
from tests.transfer.test_reading import told

try:
    from nagents.session import SessionManager
    from nagents.types import ImageContent, Message, TextContent, ToolCall
except ImportError:
    if os.environ.get("CI"):  # noqa: TID251 - the test run's own setting, not the bot's
        raise
    pytest.skip("nagents is not installed: pip install nagents", allow_module_level=True)

CALL = ToolCall(id="call_0", name="dice", arguments={"sides": 6})


async def database(folder: Path, *messages: Any, sessions: tuple[str, ...] = ("theirs",)) -> Path:
    path = folder / "nagents.db"
    manager = SessionManager(path)
    await manager.initialize()
    for name in sessions:
        await manager.get_or_create_session(name, "ann")
        for message in messages:
            await manager.add_message(name, message)
    return path


async def test_a_session_is_read_with_calls_and_parts(tmp_path: Path) -> None:
    path = await database(
        tmp_path,
        Message(role="system", content="Be brief."),
        Message(role="user", content="roll"),
        Message(role="assistant", tool_calls=[CALL]),
        Message(role="tool", content="6", tool_call_id="call_0", name="dice"),
        Message(role="assistant", content="A six."),
        Message(
            role="user",
            content=[
                TextContent(text="what is this?"),
                ImageContent(base64_data="", media_type="x"),
            ],
        ),
        Message(role="assistant", content='["a", "list"]'),
        Message(role="user", content="[not json"),
    )
    found = read_file(path)
    assert (found.user_id, found.left_out) == ("ann", ["1 system message"])
    session = made("s", found)
    assert told(session) == [
        ("user", "roll"),
        ("assistant", None),
        ("tool", "6"),
        ("assistant", "A six."),
        ("user", "what is this?\n[note: Something of the kind image was left out.]"),
        ("assistant", '["a", "list"]'),
        ("user", "[not json"),
    ]
    called = next(e for e in session.events if isinstance(e, AssistantMessageEvent))
    assert called.tool_calls[0].arguments == '{"sides": 6}'
    assert called.tool_calls[0].extra == {"id": "call_0"}
    assert session.open_turns == ()


async def test_what_nagents_sees_after_a_compaction_is_what_the_model_sees(tmp_path: Path) -> None:
    path = await database(
        tmp_path, Message(role="user", content="one"), Message(role="assistant", content="1")
    )
    manager = SessionManager(path)
    kept = [Message(role="user", content="two"), Message(role="assistant", content="2")]
    for message in kept:
        await manager.add_message("theirs", message)
    await manager.replace_context(
        "theirs", [Message(role="compaction_summary", content="They counted."), *kept]
    )
    await manager.add_message("theirs", Message(role="user", content="three"))
    session = made("s", read_file(path))
    assert isinstance(session.events[0], CompactionDoneEvent)
    assert [content for _, content in told(session)][1:] == ["two", "2", "three"]
    assert "They counted." in told(session)[0][1]
    assert session.last_seq == 9


async def test_a_boundary_without_a_summary_begins_anew(tmp_path: Path) -> None:
    path = await database(tmp_path, Message(role="user", content="one"))
    manager = SessionManager(path)
    number = await manager.add_message("theirs", Message(role="user", content="two"))
    await manager.set_compaction_boundary("theirs", number)
    assert [content for _, content in told(made("s", read_file(path)))] == ["two"]


async def test_one_of_several_is_chosen_by_its_id(tmp_path: Path) -> None:
    said = Message(role="user", content="hi")
    path = await database(tmp_path, said, sessions=tuple(f"s{n:02}" for n in range(12)))
    assert read_file(path, theirs="s03").events
    with pytest.raises(TransferError, match=r"say which with --from; there are 's00', .* 2 more"):
        read_file(path)
    with pytest.raises(TransferError, match="there is no 'x'"):
        read_file(path, theirs="x")


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        ("{", "message 1 (id 1): its tool calls are not JSON"),
        ("{}", "its tool calls are no list"),
        ("[7]", "its tool calls are no list of objects"),
        ("[{}]", "a tool call has no name"),
    ],
)
async def test_a_damaged_row_is_named(tmp_path: Path, calls: str, why: str) -> None:
    path = await database(tmp_path, Message(role="assistant", content="hm", tool_calls=[CALL]))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE v2_messages SET tool_calls = ?, created_at = 'x'", (calls,))
    connection.close()
    with pytest.raises(TransferError) as raised:
        read_file(path)
    assert why in str(raised.value)


def test_another_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE x (y)")
    connection.close()
    with pytest.raises(TransferError, match="no sessions of nagents"):
        read_file(path)
    path.write_bytes(b"SQLite format 3\0nonsense")
    with pytest.raises(TransferError, match=r"other\.db"):
        read_file(path)


@pytest.mark.parametrize("content", [b"\xff\xfe", 5])
def test_a_message_that_is_no_text_is_refused_in_a_sentence(
    tmp_path: Path, content: object
) -> None:
    path = tmp_path / "damaged.db"
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE v2_sessions (id, user_id)")
        columns = "id, session_id, role, content, tool_calls, tool_call_id, name, created_at"
        file.execute(f"CREATE TABLE v2_messages ({columns})")
        file.execute("INSERT INTO v2_sessions VALUES ('a', 'ann')")
        row = (1, "a", "user", content, None, None, None, None)
        file.execute("INSERT INTO v2_messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        file.commit()
    with pytest.raises(TransferError, match="not as it should be"):
        read_file(path)
