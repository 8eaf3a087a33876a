"""A session as JSON of our own: the whole log, and the files that it refers to."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from typing import Any

from bot.errors import TransferError
from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    Attachment,
    RecordedEvent,
    ToolResultEvent,
    ToolStartedEvent,
    UserMessageEvent,
    codec,
    new_id,
)
from bot.sessions import SessionStore
from bot.transfer.conversation import Conversation

FORMAT = "parley"
VERSION = 1
PAGE = 1000
_KINDS: Mapping[str, Any] = {
    "str": str,
    "int": int,
    "str | None": str | None,
    "int | None": int | None,
}


async def export_session(store: SessionStore, session_id: str) -> dict[str, Any]:
    """Return a session as JSON values.

    Raises:
        TransferError: if there is none of this id.
    """
    session = await store.get(session_id)
    if session is None:
        raise TransferError(f"there is no session {session_id!r}")
    events = await whole_log(store, session_id)
    files = {each.sha256: await store.get_blob(each.sha256) for each in _files(events)}
    encoded = {name: base64.b64encode(data).decode() for name, data in files.items() if data}
    return {
        "format": FORMAT,
        "version": VERSION,
        "session_id": session_id,
        "user_id": session.user_id,
        "created_at": session.created_at.isoformat(),
        "state": dict(session.state),
        "events": [codec.encode(event) for event in events],
        "files": encoded,
    }


async def whole_log(store: SessionStore, session_id: str) -> Sequence[RecordedEvent]:
    """Return everything that was recorded in a session, read in pages."""
    events: list[RecordedEvent] = []
    while page := await store.read_log(
        session_id, after=events[-1].seq if events else 0, limit=PAGE
    ):
        events += page
    return events


def read_own(data: Mapping[str, Any]) -> Conversation:
    """Return the conversation that was exported, with ids of its own.

    Raises:
        TransferError: naming what in it is wrong.
    """
    if data.get("version") != VERSION:
        raise TransferError(f"it is of version {data.get('version')!r}; this reads {VERSION}")
    items, state, user_id = data.get("events"), data.get("state", {}), data.get("user_id")
    if not isinstance(items, list) or not isinstance(state, dict):
        raise TransferError("its events are no list, or its state no object")
    if not isinstance(user_id, str | None):
        raise TransferError("its user_id is no text")
    return Conversation(
        user_id=user_id,
        state=state,
        created_at=_time(data.get("created_at")),
        events=_renamed([_event(number, item) for number, item in enumerate(items, 1)]),
        files=[_file(*each) for each in dict(data.get("files") or {}).items()],
    )


def _event(number: int, item: Any) -> RecordedEvent:
    try:
        event = codec.decode(item)
        _check(event)
        event.at.astimezone(UTC)
    except (ValueError, TypeError, AttributeError, OverflowError) as exc:
        raise TransferError(f"event {number}: {exc}") from exc
    if event.seq != number:
        raise TransferError(f"event {number}: it has the number {event.seq}")
    return event


def _check(value: object) -> None:
    """Refuse values of other kinds than the log has: they would fail whoever reads it later."""
    if isinstance(value, tuple):
        for each in value:
            _check(each)
    elif is_dataclass(value):
        for field in fields(value):
            found = getattr(value, field.name)
            kinds = _KINDS.get(str(field.type))
            if kinds is not None and not isinstance(found, kinds):
                raise TypeError(f"its {field.name} is {found!r}")
            _check(found)


def _file(name: str, text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError, ValueError) as exc:
        raise TransferError(f"file {name}: it is not base64") from exc


def _time(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except (TypeError, ValueError) as exc:
        raise TransferError(f"its created_at is no time: {text!r}") from exc


def _renamed(events: Sequence[RecordedEvent]) -> Sequence[RecordedEvent]:
    """Return a log whose ids may stand in a store beside those of the one it is a copy of.

    Messages are not those of Discord any more: one is in a store only once.
    """
    names = _Names()
    return [names.of(event) for event in events]


class _Names(dict[str, str]):
    """New names, by old ones; a name is begun with the same word."""

    def __missing__(self, old: str) -> str:
        self[old] = new_id(old.partition("-")[0][:20] or "id") if old else ""
        return self[old]

    def of(self, event: RecordedEvent) -> RecordedEvent:
        event = replace(event, turn_id=self[event.turn_id])
        match event:
            case UserMessageEvent():
                return replace(event, source_id=None, about=self[event.about])
            case AssistantMessageEvent():
                calls = (replace(c, call_id=self[c.call_id]) for c in event.tool_calls)
                return replace(event, tool_calls=tuple(calls))
            case ApprovalRequestedEvent():
                call_id = self[event.call_id]
                return replace(event, approval_id=self[event.approval_id], call_id=call_id)
            case ApprovalDecidedEvent():
                return replace(event, approval_id=self[event.approval_id])
            case ToolStartedEvent() | ToolResultEvent():
                return replace(event, call_id=self[event.call_id])
            case _:
                return event


def _files(events: Sequence[RecordedEvent]) -> set[Attachment]:
    with_files = (e for e in events if isinstance(e, UserMessageEvent | ToolResultEvent))
    return {file for event in with_files for file in event.attachments}
