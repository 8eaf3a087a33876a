"""Taking a memory out of logs in which it was kept or recalled."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    Receipt,
    RecordedEvent,
    ToolCall,
    ToolResultEvent,
    UserMessageEvent,
    codec,
)

if TYPE_CHECKING:
    from bot.storage import Connection

FORGOTTEN = "This was forgotten."
_NOTHING = {"text": FORGOTTEN}

_SESSIONS = "SELECT session_id FROM authors WHERE user_id = ?"

_NAMING = """
    SELECT DISTINCT turn_id FROM events WHERE session_id = ? AND body LIKE '%"memory-%'"""

_TURN = "SELECT body FROM events WHERE session_id = ? AND turn_id = ? ORDER BY seq"

_SET_BODY = "UPDATE events SET body = ? WHERE session_id = ? AND seq = ?"

_MARK = "UPDATE sessions SET version = version + 1, erasures = erasures + 1 WHERE session_id = ?"


def redact(connection: Connection, user_id: str, memory_ids: Collection[str]) -> None:
    """Take memories out of the logs in which their owner wrote; copies of those are old then.

    What people or the model said of them stays: that is the conversation's.
    """
    for (session_id,) in connection.execute(_SESSIONS, (user_id,)).fetchall():
        naming = connection.execute(_NAMING, (session_id,)).fetchall()
        changed: list[RecordedEvent] = []
        for (turn_id,) in naming:
            rows = connection.execute(_TURN, (session_id, turn_id)).fetchall()
            changed += without(codec.from_json(body for (body,) in rows), memory_ids)
        for event in changed:
            connection.execute(_SET_BODY, (codec.to_json(event), session_id, event.seq))
        if changed:
            connection.execute(_MARK, (session_id,))


def without(turn: Sequence[RecordedEvent], memory_ids: Collection[str]) -> Iterator[RecordedEvent]:
    """Give those of a turn's events that memories have to be taken out of, without them."""
    results = [e for e in turn if isinstance(e, ToolResultEvent) and _made(e) in memory_ids]
    calls = {result.call_id for result in results}
    asked = {
        e.approval_id for e in turn if isinstance(e, ApprovalRequestedEvent) and e.call_id in calls
    }
    for event in turn:
        match event:
            case UserMessageEvent() if any(e.memory_id in memory_ids for e in event.recalled):
                rest = (each for each in event.recalled if each.memory_id not in memory_ids)
                yield replace(event, recalled=tuple(rest))
            case ToolResultEvent() if event.call_id in calls:
                yield replace(event, output=FORGOTTEN, receipt=Receipt(text=FORGOTTEN))
            case AssistantMessageEvent() if any(c.call_id in calls for c in event.tool_calls):
                told = tuple(_blank(c) if c.call_id in calls else c for c in event.tool_calls)
                yield replace(event, tool_calls=told, reasoning="", extra={})
            case ApprovalRequestedEvent() if event.call_id in calls:
                yield replace(event, arguments=_NOTHING)
            case ApprovalDecidedEvent(arguments=edited) if event.approval_id in asked and edited:
                yield replace(event, arguments=_NOTHING)
            case _:
                pass


def _made(event: ToolResultEvent) -> str:
    return event.receipt.undo if event.receipt else ""


def _blank(call: ToolCall) -> ToolCall:
    """Return a call without what it was asked with; of what came beside it only its id stays."""
    extra = {"id": call.extra["id"]} if "id" in call.extra else {}
    return replace(call, arguments=json.dumps(_NOTHING), extra=extra)
