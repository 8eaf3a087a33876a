from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bot.events
from bot.events import (
    Author,
    RecordedEvent,
    ToolCall,
    ToolStatus,
    UnknownEvent,
    UserMessageEvent,
    codec,
)

NOW = datetime(2030, 1, 2, 3, 4, 5, 6, tzinfo=UTC)

zones = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])
times = st.datetimes(
    min_value=datetime(1970, 1, 2),  # noqa: DTZ001 - hypothesis adds the zone
    timezones=zones,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(st.text(), json_values, max_size=3)
surrogates = st.text(st.characters(codec=None, exclude_categories=()), max_size=5)


def kinds() -> list[type[RecordedEvent]]:
    exported = [getattr(bot.events, name) for name in bot.events.__all__]
    return [each for each in exported if hasattr(each, "kind")]


def events() -> st.SearchStrategy[RecordedEvent]:
    st.register_type_strategy(datetime, times)
    st.register_type_strategy(str, surrogates)
    st.register_type_strategy(ToolCall, st.builds(ToolCall, **_fields(ToolCall)))
    return st.one_of(*(st.builds(cls, **_fields(cls)) for cls in kinds()))


def _fields(cls: type[object]) -> dict[str, st.SearchStrategy[Any]]:
    hints = get_type_hints(cls)
    given_ones: dict[str, st.SearchStrategy[Any]] = {
        name: st.from_type(hint)
        for name, hint in hints.items()
        if name not in ("kind", "extra", "arguments", "body")
    }
    for name in {"extra", "arguments", "body"} & hints.keys():
        given_ones[name] = objects.filter(lambda value: "kind" not in value)
    return given_ones


@given(event=st.deferred(events))
def test_every_event_comes_back_equal(event: RecordedEvent) -> None:
    text = codec.to_json(event)
    text.encode()  # a database takes it
    assert codec.from_json([text]) == [event]
    assert codec.decode(codec.encode(event)) == event
    assert next(iter(json.loads(text))) == "kind"


def test_all_kinds_are_known() -> None:
    assert {cls.kind for cls in kinds()} == set(codec._FORMS)


def test_defaults_are_left_out_and_times_are_utc() -> None:
    at = NOW.astimezone(timezone(timedelta(hours=2)))
    assert codec.encode(UserMessageEvent(text="hi", seq=1, turn_id="t", at=at)) == {
        "kind": "user_message",
        "turn_id": "t",
        "at": "2030-01-02T03:04:05.000006+00:00",
        "seq": 1,
        "text": "hi",
    }


def test_text_is_stored_as_people_write_it() -> None:
    assert "привет 🦜" in codec.to_json(UserMessageEvent(text="привет 🦜"))


def test_half_a_character_is_stored_too() -> None:
    event = UserMessageEvent(text="\ud83e", at=NOW)
    text = codec.to_json(event)
    assert text.isascii()
    assert codec.from_json([text]) == [event]


def test_events_do_not_share_their_mappings() -> None:
    data = {"kind": "assistant_message", "text": "hi", "at": NOW.isoformat()}
    one, other = codec.from_json([json.dumps(data)] * 2)
    assert vars_of(one)["extra"] is not vars_of(other)["extra"]


def vars_of(event: RecordedEvent) -> dict[str, Any]:
    return {name: getattr(event, name) for name in get_type_hints(type(event))}


def test_an_event_that_came_back_is_frozen() -> None:
    event = codec.decode(codec.encode(UserMessageEvent(text="hi", author=Author(user_id="u"))))
    assert isinstance(event, UserMessageEvent)
    for value, name in ((event, "text"), (event.author, "name")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, "other")
        with pytest.raises(FrozenInstanceError):
            delattr(value, name)


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "teleported", "seq": 7, "turn_id": "t", "at": NOW.isoformat(), "to": {"x": 1}},
        {"kind": "teleported"},
    ],
)
def test_an_unknown_kind_is_kept_as_it_was_read(data: dict[str, Any]) -> None:
    event = codec.decode(data)
    assert isinstance(event, UnknownEvent)
    assert (event.seq, event.turn_id) == (data.get("seq", 0), data.get("turn_id", ""))
    assert codec.encode(event) == data


def test_unknown_fields_of_a_known_kind_are_passed_over() -> None:
    data = {"kind": "user_message", "text": "hi", "at": NOW.isoformat(), "mood": "good"}
    data["author"] = {"user_id": "u", "pronouns": "they"}  # type: ignore[assignment]
    event = codec.decode(data)
    assert isinstance(event, UserMessageEvent)
    assert event.author is not None
    assert event.author.user_id == "u"


def test_an_outcome_comes_back_as_its_enum() -> None:
    data = {"kind": "tool_result", "call_id": "c", "status": "ok", "output": ""}
    event = codec.decode({**data, "at": NOW.isoformat()})
    assert event.status is ToolStatus.OK  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "null",
        "{",
        '{"kind": "user_message"}',
        '{"kind": "user_message", "text": "hi", "at": 5}',
        '{"kind": "user_message", "text": "hi", "at": "yesterday"}',
        '{"kind": "tool_result", "at": "2030-01-01", "call_id": "c", "status": "?", "output": ""}',
    ],
)
def test_what_is_no_event_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):
        codec.from_json([text])
