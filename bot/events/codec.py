"""Events as JSON and back, as stores keep them.

An encoded event begins with its `kind`; times are ISO 8601 in UTC; what equals its default is left
out. An unknown kind comes back as `UnknownEvent` and is encoded again as it was read; an unknown
field of a known kind is passed over, so that an older version reads what a newer one wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from bot.events.base import (
    Ask,
    Attachment,
    Author,
    Decision,
    Quote,
    Recalled,
    Receipt,
    ToolCall,
    ToolStatus,
    TurnOutcome,
    Usage,
)
from bot.events.forms import Codec, Form
from bot.events.recorded import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    CompactionDoneEvent,
    ErasedEvent,
    RecordedEvent,
    ResetEvent,
    StopRequestedEvent,
    ToolResultEvent,
    ToolStartedEvent,
    TurnEndedEvent,
    TurnResumedEvent,
    UnknownEvent,
    UserMessageEvent,
)

_TEXT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
PARSED_AT_ONCE = 100_000
"""Characters; one event that is longer is parsed as a whole all the same."""


def encode(event: RecordedEvent) -> dict[str, Any]:
    """Return an event as JSON values, `kind` first."""
    if isinstance(event, UnknownEvent) and "kind" in event.body:
        return dict(event.body)
    return {"kind": event.kind, **_FORMS[event.kind].encode(event)}


def decode(data: Mapping[str, Any]) -> RecordedEvent:
    """Return the event that was encoded.

    Raises:
        ValueError: if it is none.
    """
    return _decode_all([data])[0]


def to_json(event: RecordedEvent) -> str:
    """Return an event's JSON text, which is always valid UTF-8."""
    data = encode(event)
    text = _TEXT.encode(data)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair: services do cut them in two
        return json.dumps(data, separators=(",", ":"))
    return text


def from_json(texts: Iterable[str]) -> list[RecordedEvent]:
    """Return the events of many JSON texts.

    Parsed several as one, which takes half the time, but not all as one: the parser would keep
    Python's lock, and so hold up the event loop also from another thread.

    Raises:
        ValueError: if one is no event.
    """
    events: list[RecordedEvent] = []
    for part in _parts(texts):
        events += _decode_all(json.loads(f"[{','.join(part)}]"))
    return events


def _parts(texts: Iterable[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for text in texts:
        part.append(text)
        size += len(text)
        if size > PARSED_AT_ONCE:
            yield part
            part, size = [], 0
    if part:
        yield part


def _decode_all(items: Iterable[Mapping[str, Any]]) -> list[RecordedEvent]:
    forms = _FORMS
    try:
        return [
            form.decode(item) if (form := forms.get(item["kind"])) else _unknown(item)
            for item in items
        ]
    except (AttributeError, KeyError, TypeError) as exc:
        raise ValueError(f"not an event: {exc!r}") from exc


def _unknown(data: Mapping[str, Any]) -> UnknownEvent:
    at = data.get("at")
    return UnknownEvent(
        seq=data.get("seq", 0),
        turn_id=data.get("turn_id", ""),
        at=datetime.fromisoformat(at) if at else datetime.fromtimestamp(0, UTC),
        body=data,
    )


def _enum(cls: type[StrEnum]) -> Codec:
    return Codec(str, {member.value: member for member in cls}.__getitem__)


def _many(form: Form[Any]) -> Codec:
    return Codec(
        lambda values: [form.encode(value) for value in values],
        lambda items: tuple([form.decode(item) for item in items]),
    )


def _encode_time(at: datetime) -> str:
    return (at if at.tzinfo is UTC else at.astimezone(UTC)).isoformat()


_TIME = Codec(_encode_time, datetime.fromisoformat)
_MAPPING = Codec(dict, dict)
_NAMES = Codec(list, tuple)


_CALLS = _many(Form(ToolCall, extra=_MAPPING))
_FILES = _many(Form(Attachment))
_SAID = {
    "author": Form(Author),
    "attachments": _FILES,
    "quotes": _many(Form(Quote)),
    "asks": _enum(Ask),
    "notes": Codec(list, tuple),
    "recalled": _many(Form(Recalled)),
}
_RESULT = {"status": _enum(ToolStatus), "attachments": _FILES, "receipt": Form(Receipt)}

_FORMS: Mapping[str, Form[RecordedEvent]] = {
    cls.kind: Form(cls, at=_TIME, **codecs)
    for cls, codecs in (
        (UserMessageEvent, _SAID),
        (AssistantMessageEvent, {"tool_calls": _CALLS, "usage": Form(Usage), "extra": _MAPPING}),
        (ApprovalRequestedEvent, {"arguments": _MAPPING, "expires_at": _TIME}),
        (ApprovalDecidedEvent, {"decision": _enum(Decision), "arguments": _MAPPING}),
        (ToolStartedEvent, {}),
        (ToolResultEvent, _RESULT),
        (StopRequestedEvent, {}),
        (TurnEndedEvent, {"outcome": _enum(TurnOutcome)}),
        (TurnResumedEvent, {}),
        (CompactionDoneEvent, {"usage": Form(Usage), "covered": _NAMES}),
        (ResetEvent, {}),
        (ErasedEvent, {}),
        (UnknownEvent, {"body": _MAPPING}),
    )
}
