"""Messages of the Chat Completions API as events of a log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from bot.errors import TransferError
from bot.events import (
    AssistantMessageEvent,
    Author,
    CompactionDoneEvent,
    RecordedEvent,
    ResetEvent,
    ToolCall,
    ToolResultEvent,
    ToolStatus,
    UserMessageEvent,
    new_id,
    utc_now,
)
from bot.transfer.conversation import Conversation, Told

SUMMARY = "compaction_summary"
SYSTEM = ("system", "developer")
LOST = "The outcome of this call is not known."


def conversation(told: Iterable[Told], user_id: str | None = None) -> Conversation:
    """Return a conversation as events; instructions of a system are left out.

    Raises:
        TransferError: naming the message that is none, or whose call or result lacks the other.
    """
    taking = _Taking(user_id)
    events = [event for each in told for event in taking.events(each)]
    events += taking.lost()
    return Conversation(user_id=user_id, events=events, left_out=taking.left_out())


class _Taking:
    """One pass over the messages: which turn is open, and which calls wait for a result."""

    def __init__(self, user_id: str | None) -> None:
        self._author = Author(user_id=user_id) if user_id else None
        self._turn_id = ""
        self._waiting: dict[str, str] = {}
        self._instructions = 0
        self._numbers = 0

    def left_out(self) -> list[str]:
        count = self._instructions
        return [f"{count} system {'message' if count == 1 else 'messages'}"] if count else []

    def events(self, told: Told) -> Iterator[RecordedEvent]:
        for event in self._events(told):
            self._numbers += 1
            yield event

    def _events(self, told: Told) -> Iterator[RecordedEvent]:
        at, message = told.at or utc_now(), told.message
        role = message.get("role")
        if told.boundary and role != SUMMARY:
            yield from self.lost()
            yield ResetEvent(by="import", at=at)
        if role in SYSTEM:
            self._instructions += 1
        elif role == "user":
            yield from self._said(told, at)
        elif role == "assistant":
            yield from self._answered(told, at)
        elif role in ("tool", "function"):
            yield self._result(told, at)
        elif role == SUMMARY:
            yield from self.lost()
            self._turn_id = ""
            yield CompactionDoneEvent(
                summary=_text(told)[0], window_from=self._numbers + 1, messages=0, at=at
            )
        else:
            raise _wrong(told, f"there is no role {role!r}")

    def lost(self) -> Iterator[RecordedEvent]:
        """Close the calls whose results are missing."""
        for call_id in self._waiting.values():
            yield _closed(self._turn_id, call_id, ToolStatus.UNKNOWN, LOST)
        self._waiting.clear()

    def _said(self, told: Told, at: datetime) -> Iterator[RecordedEvent]:
        yield from self.lost()
        text, missing = _text(told)
        notes = tuple(f"Something of the kind {kind} was left out." for kind in missing)
        name = told.message.get("name")
        author = Author(user_id=f"{name}", name=f"{name}") if name else self._author
        if text.strip() or notes:
            self._turn_id = new_id("turn")
            yield UserMessageEvent(
                turn_id=self._turn_id, text=text, author=author, notes=notes, at=at
            )

    def _answered(self, told: Told, at: datetime) -> Iterator[RecordedEvent]:
        yield from self.lost()
        text, _ = _text(told)
        text = text or str(told.message.get("refusal") or "")
        calls = tuple(self._call(told, each) for each in _calls(told))
        if text.strip() or calls:
            self._turn_id = self._turn_id or new_id("turn")
            yield AssistantMessageEvent(turn_id=self._turn_id, text=text, tool_calls=calls, at=at)
        if text.strip() and not calls:
            self._turn_id = ""

    def _call(self, told: Told, call: Mapping[str, Any]) -> ToolCall:
        function, theirs = call.get("function"), call.get("id")
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise _wrong(told, "a tool call has no name")
        arguments = function.get("arguments", "{}")
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        key = theirs if isinstance(theirs, str) and theirs else f"name:{function['name']}"
        if key in self._waiting:
            raise _wrong(told, f"two tool calls have the id {theirs!r}")
        made = ToolCall(
            call_id=new_id("call"),
            tool=function["name"],
            arguments=arguments,
            extra={"id": theirs} if isinstance(theirs, str) and theirs else {},
        )
        self._waiting[key] = made.call_id
        return made

    def _result(self, told: Told, at: datetime) -> RecordedEvent:
        theirs, name = told.message.get("tool_call_id"), told.message.get("name")
        key = str(theirs) if theirs else f"name:{name}"
        if key not in self._waiting:
            raise _wrong(told, f"it is the result of {theirs or name!r}, which nobody called for")
        text, _ = _text(told)
        return _closed(self._turn_id, self._waiting.pop(key), ToolStatus.OK, text, at)


def _calls(told: Told) -> list[Mapping[str, Any]]:
    calls = told.message.get("tool_calls") or []
    older = told.message.get("function_call")
    if older:
        calls = [*calls, {"function": older}]
    if not isinstance(calls, list) or not all(isinstance(each, Mapping) for each in calls):
        raise _wrong(told, "its tool calls are no list of objects")
    return calls


def _text(told: Told) -> tuple[str, list[str]]:
    """Return the text of a message, and the kinds of what is in it beside that."""
    content = told.message.get("content")
    if content is None or isinstance(content, str):
        return content or "", []
    if not isinstance(content, list) or not all(isinstance(each, Mapping) for each in content):
        raise _wrong(told, "its content is neither a text nor a list of parts")
    texts = [part["text"] for part in content if isinstance(part.get("text"), str)]
    others = [str(part.get("type")) for part in content if not isinstance(part.get("text"), str)]
    return "\n".join(texts), others


def _closed(
    turn_id: str, call_id: str, status: ToolStatus, output: str, at: datetime | None = None
) -> ToolResultEvent:
    return ToolResultEvent(
        turn_id=turn_id, call_id=call_id, status=status, output=output, at=at or utc_now()
    )


def _wrong(told: Told, why: str) -> TransferError:
    return TransferError(f"{told.where}: {why}")
