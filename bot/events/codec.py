"""Events as JSON and back, as stores keep them.

An encoded event begins with its `kind`; times are ISO 8601 in UTC; what equals its default is left
out. An unknown kind comes back as `UnknownEvent` and is encoded again as it was read; an unknown
field of a known kind is passed over, so that an older version reads what a newer one wrote.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from bot.events.base import (
    Ask,
    Attachment,
    Author,
    Decision,
    Quote,
    ToolCall,
    ToolStatus,
    TurnOutcome,
    Usage,
)
from bot.events.recorded import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    CompactionDoneEvent,
    RecordedEvent,
    ResetEvent,
    ToolResultEvent,
    ToolStartedEvent,
    TurnEndedEvent,
    TurnResumedEvent,
    UnknownEvent,
    UserMessageEvent,
)

T = TypeVar("T")

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
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
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


@dataclass(frozen=True, slots=True)
class _Codec:
    """How one type of value becomes JSON and comes back."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


class _Form(Generic[T]):
    """How one frozen dataclass becomes a JSON object and comes back.

    Decoding sets the slots itself: a frozen dataclass's `__init__` takes twice as long, and a long
    log is decoded whole.
    """

    def __init__(self, cls: type[T], **codecs: _Codec | _Form[Any]) -> None:
        self._cls = cls
        self._required: list[tuple[str, Callable[[T, Any], None], Any]] = []
        self._optional: list[tuple[str, Callable[[T, Any], None], Any, Any]] = []
        self._encoders: list[tuple[str, Any, Any]] = []
        for field in fields(cls):  # type: ignore[arg-type]  # every form is of a dataclass
            name, put = field.name, getattr(cls, field.name).__set__
            codec = codecs.get(name)
            default = {} if field.default_factory is dict else field.default
            self._encoders.append((name, codec and codec.encode, default))
            if default is MISSING:
                self._required.append((name, put, codec and codec.decode))
            else:
                self._optional.append((name, put, codec and codec.decode, default))

    def encode(self, value: T) -> dict[str, Any]:
        """Return the value as a JSON object, without what equals its default."""
        data = {}
        for name, convert, default in self._encoders:
            field = getattr(value, name)
            if field != default:
                data[name] = field if convert is None or field is None else convert(field)
        return data

    def decode(self, data: Mapping[str, Any]) -> T:
        """Return the value of a JSON object; fields that it does not know are passed over."""
        value = object.__new__(self._cls)
        for name, put, convert in self._required:
            put(value, convert(data[name]) if convert else data[name])
        for name, put, convert, default in self._optional:
            if name not in data:
                put(value, default.copy() if default == {} else default)
            elif convert is None or data[name] is None:
                put(value, data[name])
            else:
                put(value, convert(data[name]))
        return value


def _enum(cls: type[StrEnum]) -> _Codec:
    return _Codec(str, {member.value: member for member in cls}.__getitem__)


def _many(form: _Form[Any]) -> _Codec:
    return _Codec(
        lambda values: [form.encode(value) for value in values],
        lambda items: tuple([form.decode(item) for item in items]),
    )


def _encode_time(at: datetime) -> str:
    return (at if at.tzinfo is UTC else at.astimezone(UTC)).isoformat()


_TIME = _Codec(_encode_time, datetime.fromisoformat)
_MAPPING = _Codec(dict, dict)
_NAMES = _Codec(list, tuple)


_CALLS = _many(_Form(ToolCall, extra=_MAPPING))
_FILES = _many(_Form(Attachment))
_SAID = {
    "author": _Form(Author),
    "attachments": _FILES,
    "quotes": _many(_Form(Quote)),
    "asks": _enum(Ask),
    "notes": _Codec(list, tuple),
}

_FORMS: Mapping[str, _Form[RecordedEvent]] = {
    cls.kind: _Form(cls, at=_TIME, **codecs)
    for cls, codecs in (
        (UserMessageEvent, _SAID),
        (AssistantMessageEvent, {"tool_calls": _CALLS, "usage": _Form(Usage), "extra": _MAPPING}),
        (ApprovalRequestedEvent, {"arguments": _MAPPING, "expires_at": _TIME}),
        (ApprovalDecidedEvent, {"decision": _enum(Decision), "arguments": _MAPPING}),
        (ToolStartedEvent, {}),
        (ToolResultEvent, {"status": _enum(ToolStatus), "attachments": _FILES}),
        (TurnEndedEvent, {"outcome": _enum(TurnOutcome)}),
        (TurnResumedEvent, {}),
        (CompactionDoneEvent, {"usage": _Form(Usage), "covered": _NAMES}),
        (ResetEvent, {}),
        (UnknownEvent, {"body": _MAPPING}),
    )
}
