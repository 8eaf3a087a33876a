"""What a card says of a schedule, and which of them wait for a yes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.agent import Tool
from bot.events import utc_now
from bot.frontend.schedules.scheduling import Scheduling
from bot.frontend.tools.schedule import schedule_tool
from bot.sessions import Session, SQLiteSessionManager
from bot.sessions.stores.homes import HomeStore
from bot.sessions.stores.schedules import ScheduleStore

SESSION = Session("channel-1")


@pytest.fixture(name="tool")
def _tool(tmp_path: Path) -> Tool:
    store = SQLiteSessionManager(tmp_path / "parley.db")
    return schedule_tool(
        Scheduling(
            schedules=ScheduleStore(store.database),
            homes=HomeStore(store.database),
            clock=utc_now,
        )
    )


@pytest.mark.parametrize(
    ("arguments", "sentence", "waits"),
    [
        ({"in_minutes": 5}, "Say this here in 5 minutes.", False),
        ({"in_minutes": 5, "ask": True}, "Work on this in 5 minutes.", True),
        (
            {"date": "2026-12-24", "at": "18:00"},
            "Say this here on 2026-12-24 at 18:00.",
            False,
        ),
        ({"at": "09:00"}, "Say this here every day at 09:00.", True),
        (
            {"at": "09:00", "weekdays": ["Monday", "Friday"]},
            "Say this here every Monday, Friday at 09:00.",
            True,
        ),
        (
            {"at": "<@1>", "day_of_month": 1},
            "Say this here on day 1 of every month at \\<@1\\>.",
            True,
        ),
    ],
)
def test_a_sentence_says_what_and_when(
    tool: Tool, arguments: Mapping[str, Any], sentence: str, waits: bool
) -> None:
    effective = tool.parameters.effective({"text": "tea", **arguments})
    assert tool.sentence is not None
    assert tool.sentence(effective) == sentence
    assert tool.is_gated(effective, SESSION) is waits
