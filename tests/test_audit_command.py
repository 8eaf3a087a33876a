"""`python -m bot audit`: the whole store as lines, also while the bot runs."""

from __future__ import annotations

import json
from pathlib import Path

from bot.events import AssistantMessageEvent, ToolCall, ToolStartedEvent, UserMessageEvent
from bot.sessions import Session, SQLiteSessionManager
from tests.commands import run


async def a_database(path: Path) -> None:
    manager = SQLiteSessionManager(path)
    for number in range(2):
        session = Session(f"s{number}", "alice")
        call = ToolCall(call_id=f"c{number}", tool="pay", arguments="{}")
        session.append(
            UserMessageEvent(text="pay"),
            AssistantMessageEvent(text="", tool_calls=(call,)),
            ToolStartedEvent(call_id=f"c{number}", holder="h"),
        )
        await manager.save(session)
    await manager.close()


async def test_it_prints_one_object_a_line_and_needs_no_other_setting(tmp_path: Path) -> None:
    await a_database(tmp_path / "parley.db")
    end = await run("audit", "--json", in_=tmp_path)
    assert (end.status, end.err) == (0, "")
    lines = [json.loads(line) for line in end.out.splitlines()]
    assert [(each["session"], each["what"], each["tool"]) for each in lines] == [
        ("s0", "started", "pay"),
        ("s1", "started", "pay"),
    ]
    plain = await run("audit", "--session", "s1", in_=tmp_path)
    assert plain.out.count("\n") == 1
    assert " s1 started pay c1 " in plain.out
    assert (await run("audit", "--since", "2999-01-01", in_=tmp_path)).out == ""


async def test_what_it_cannot_do_it_says(tmp_path: Path) -> None:
    end = await run("audit", in_=tmp_path)
    assert (end.status, end.err) == (1, "Nothing can be told: there is no database parley.db\n")
    end = await run("audit", "--since", "yesterday", in_=tmp_path)
    assert "yesterday is not a date or time" in end.err
