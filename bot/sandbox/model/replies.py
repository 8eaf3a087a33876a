"""What a model service can do with one request, good and bad."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Call = tuple[str, Mapping[str, Any] | str]
"""A tool's name, and its arguments: an object, or text that is sent as it is."""

_IMAGE = re.compile(r'"data:image/[^"]*"')
_WORDS = re.compile(r"\s*\S+\s*?(?=\s|$)|\s+")


class Drop(Exception):
    """Raised by a reply: the connection is cut here."""


@dataclass(slots=True)
class Gate:
    """Where a reply waits: `reached` tells that it does, `release` lets it go on."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    _open: asyncio.Event = field(default_factory=asyncio.Event)

    def release(self) -> None:
        """Let the reply go on."""
        self._open.set()

    async def passed(self) -> None:
        """Tell that the reply is here, and wait until it is released."""
        self.reached.set()
        await self._open.wait()


Item = Mapping[str, Any] | str | bytes | Gate
"""A part of a recorded response."""


class Reply(Protocol):
    """One reply, as the server sends it."""

    status: int
    headers: Mapping[str, str]

    def body(self, request: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """Give the response's bytes, one write each; raise `Drop` to cut the connection."""
        ...


def sse(data: object) -> bytes:
    """Write one server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"data: {text}\n\n".encode()


def tokens_in(request: Mapping[str, Any]) -> int:
    """Count what a request asks the model to read, plainly.

    Four characters are a token, and an image is a thousand, whatever its bytes.
    """
    told = [request.get("messages", []), request.get("tools", [])]
    text, images = _IMAGE.subn("", json.dumps(told, ensure_ascii=False))
    return len(text) // 4 + images * 1_000


def too_long(request: Mapping[str, Any], window: int) -> Failure:
    """Refuse a request as OpenAI does when it is longer than the model reads."""
    message = (
        f"This model's maximum context length is {window} tokens. However, your messages resulted "
        f"in {tokens_in(request)} tokens. Please reduce the length of the messages."
    )
    error = {
        "message": message,
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    }
    return Failure(400, {"error": error})


def chunk(model: str = "scripted", **fields: Any) -> dict[str, Any]:
    """Make a `chat.completion.chunk`."""
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": model}
    return {**frame, "choices": [], **fields}


def delta_chunk(delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    """Make a chunk of one choice."""
    return chunk(choices=[{"index": 0, "delta": dict(delta), "finish_reason": finish_reason}])


def pieces(text: str) -> Iterator[str]:
    """Split a text into words, each with the white space before it; together they are the text."""
    return (found[0] for found in _WORDS.finditer(text))


@dataclass(slots=True, kw_only=True)
class Streamed:
    """A reply that begins well: 200, and server-sent events."""

    status: int = 200
    headers: Mapping[str, str] = field(
        default_factory=lambda: {"Content-Type": "text/event-stream; charset=utf-8"}
    )


@dataclass(slots=True)
class Answer(Streamed):
    """A whole answer: text word by word, then calls, usage and the end.

    Attributes:
        ids: the service's ids of the calls.
        delay: seconds between two words.
    """

    text: str = ""
    calls: Sequence[Call] = ()
    ids: Sequence[str] = ()
    delay: float = 0.0
    finish_reason: str = ""

    async def body(self, request: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """Stream the answer."""
        yield sse(delta_chunk({"role": "assistant", "content": ""}))
        for piece in pieces(self.text):
            if self.delay:
                await asyncio.sleep(self.delay)
            yield sse(delta_chunk({"content": piece}))
        for index, call in enumerate(self.calls):
            for part in self._call(index, *call):
                yield sse(delta_chunk({"tool_calls": [part]}))
        yield sse(delta_chunk({}, self.finish_reason or ("tool_calls" if self.calls else "stop")))
        if (request.get("stream_options") or {}).get("include_usage"):
            yield sse(chunk(usage=self._usage(request)))
        yield sse("[DONE]")

    def _call(
        self, index: int, tool: str, arguments: Mapping[str, Any] | str
    ) -> Iterator[dict[str, Any]]:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call_id = self.ids[index] if index < len(self.ids) else f"call_{index}"
        function = {"name": tool, "arguments": ""}
        yield {"index": index, "id": call_id, "type": "function", "function": function}
        half = len(text) // 2
        for part in (text[:half], text[half:]):
            yield {"index": index, "function": {"arguments": part}}

    def _usage(self, request: Mapping[str, Any]) -> dict[str, int]:
        asked = tokens_in(request)
        answered = len(self.text) // 4 + len(self.calls) * 8
        return {
            "prompt_tokens": asked,
            "completion_tokens": answered,
            "total_tokens": asked + answered,
        }


@dataclass(slots=True)
class Chunks(Streamed):
    """Recorded chunks: objects and texts become events, bytes go out as they are."""

    items: Iterable[Item] = ()

    async def body(self, _request: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """Send each as one write, and wait at each gate."""
        for item in self.items:
            if isinstance(item, Gate):
                await item.passed()
            else:
                yield item if isinstance(item, bytes) else sse(item)


@dataclass(slots=True)
class Breaks(Streamed):
    """Some text, and then the connection is cut."""

    text: str = ""

    async def body(self, _request: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """Stream the text and cut."""
        for piece in pieces(self.text):
            yield sse(delta_chunk({"content": piece}))
        raise Drop


@dataclass(slots=True)
class Hangs(Streamed):
    """Some text, and then nothing; released, the connection is cut."""

    gate: Gate
    text: str = ""

    async def body(self, _request: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """Stream the text, wait and cut."""
        for piece in pieces(self.text):
            yield sse(delta_chunk({"content": piece}))
        await self.gate.passed()
        raise Drop


@dataclass(slots=True)
class Pauses(Streamed):
    """Some text, a wait at the gate, then the rest of a proper answer."""

    gate: Gate
    text: str = ""
    rest: Answer = field(default_factory=Answer)

    async def body(self, request: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """Stream the text, wait, and stream the rest."""
        for piece in pieces(self.text):
            yield sse(delta_chunk({"content": piece}))
        await self.gate.passed()
        async for block in self.rest.body(request):
            yield block


@dataclass(slots=True)
class Failure:
    """An error response; a `body` that is not text is sent as JSON."""

    status: int = 500
    content: object = None
    headers: Mapping[str, str] = field(default_factory=dict)

    async def body(self, _request: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """Send the error."""
        text = self.content if isinstance(self.content, str) else json.dumps(self.content)
        yield text.encode()
