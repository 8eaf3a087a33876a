"""The reader of server-sent events: whatever the cuts, the same chunks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import ModelUnavailableError
from bot.providers.sse import DONE, END, Chunk, EventReader

OBJECTS = st.lists(
    st.dictionaries(st.text(max_size=5), st.text() | st.integers() | st.none(), max_size=3),
    max_size=5,
)


def read(*blocks: bytes, **options: Any) -> list[Chunk]:
    reader = EventReader(**options)
    return [chunk for block in (*blocks, END) for chunk in reader.feed(block)]


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, list[Chunk]]:
    objects: list[Chunk] = list(draw(OBJECTS))
    text = b""
    for value in objects:
        line_end = draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
        noise = draw(st.sampled_from([b"", b": ping", b"event: message", b"id: 7", b"retry: 1"]))
        field = draw(st.sampled_from([b"data: ", b"data:"]))
        data = json.dumps(
            value, ensure_ascii=draw(st.booleans()), indent=draw(st.none() | st.just(1))
        )
        lines = [noise, *(field + line.encode() for line in data.split("\n")), b""]
        text += line_end.join(lines) + line_end
    return text + b"data: [DONE]\n\n", [*objects, DONE]


@given(streams(), st.data())
def test_any_cut_of_the_bytes_gives_the_same_chunks(
    stream: tuple[bytes, list[Chunk]], data: st.DataObject
) -> None:
    text, expected = stream
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    blocks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert read(*blocks) == expected


@pytest.mark.parametrize(
    "text",
    [
        b'data: {"a": 1}\n\ndata: {"a": 2}\n\n',
        b'data: {"a": 1}\ndata: {"a": 2}\n',
        b'data:{"a": 1}\r\n\r\ndata:{"a": 2}',
        b': hello\n\ndata: {\ndata: "a": 1}\n\nevent: x\ndata: {"a":\ndata: 2}\n\n',
        b'{"a": 1}\n\ndata:\n\ndata: {"a": 2}\r\r',
    ],
)
def test_what_services_write_is_understood(text: bytes) -> None:
    assert read(text) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    "text",
    [b"data: {broken}\n\n", b"data: <html>\n\n", b'data: {"a": \n\n', b"data: " + b'{"a":' * 9_000],
)
def test_data_that_is_no_object_is_a_typed_error(text: bytes) -> None:
    with pytest.raises(ModelUnavailableError, match="no JSON object"):
        read(text)


def test_data_that_is_json_but_no_object_is_a_typed_error() -> None:
    with pytest.raises(ModelUnavailableError, match="no JSON object"):
        read(b'data: "text}"\n\n', b"data: }\n\n")


def test_chunks_before_an_error_are_given() -> None:
    chunks = EventReader().feed(b'data: {"a": 1}\n\ndata: broken\n\n')
    assert next(chunks) == {"a": 1}
    with pytest.raises(ModelUnavailableError):
        next(chunks)


def test_what_json_does_not_know_is_null() -> None:
    assert read(b'data: {"a": NaN, "b": -Infinity}\n\n') == [{"a": None, "b": None}]


def test_a_line_without_end_is_bounded() -> None:
    with pytest.raises(ModelUnavailableError, match="line that is too long"):
        read(*[b"x" * 100] * 11, max_event=1_000)


def test_an_event_without_end_is_bounded() -> None:
    with pytest.raises(ModelUnavailableError, match="event that is too long"):
        read(*[b"data: " + b"x" * 100 + b"\n"] * 11, max_event=1_000)


def test_a_line_of_many_blocks_is_read_once() -> None:
    blocks = [b'data: {"a": "', *[b"x" * 65_536] * 100, b'"}\n\n']
    assert read(*blocks) == [{"a": "x" * 6_553_600}]
