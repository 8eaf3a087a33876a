"""Bytes of a response to the objects in it, tolerant of how services write server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, Literal

from bot.errors import ModelUnavailableError

MAX_EVENT = 16 * 1024 * 1024
"""The longest line, and the longest event, in bytes."""

DONE: Final = "[DONE]"
"""Ends a stream."""

Chunk = dict[str, Any] | Literal["[DONE]"]

END: Final = b"\n\n"

_decode = json.JSONDecoder(parse_constant=lambda _name: None).raw_decode


class EventReader:
    """Turns blocks of bytes, cut anywhere, into chunks.

    A chunk is given as soon as its data is a whole object, so a service that ends its events with
    one line break is understood too. Feed `END` last: it ends a line that nothing else ended.
    """

    def __init__(self, max_event: int = MAX_EVENT) -> None:
        self._max = max_event
        self._tail: list[bytes] = []
        self._tail_size = 0
        self._data: list[bytes] = []
        self._data_size = 0

    def feed(self, block: bytes) -> Iterator[Chunk]:
        """Give the chunks that a block completes, those before an error too.

        Raises:
            ModelUnavailableError: data is no JSON object, or too long.
        """
        if b"\n" not in block and b"\r" not in block:
            self._keep(block)
            return
        if self._tail:
            block = b"".join((*self._tail, block))
            self._tail.clear()
            self._tail_size = 0
        lines = block.splitlines(keepends=True)
        # A CR at the very end may be half of a CRLF.
        if not lines[-1].endswith(b"\n"):
            self._keep(lines.pop())
        for line in lines:
            chunk = self._read(line.rstrip(b"\r\n"))
            if chunk is not None:
                yield chunk

    def _keep(self, part: bytes) -> None:
        self._tail.append(part)
        self._tail_size += len(part)
        if self._tail_size > self._max:
            raise _malformed("a line that is too long")

    def _read(self, line: bytes) -> Chunk | None:
        if line.startswith(b"data:"):
            return self._add(line[5:].strip())
        if line.startswith(b"{"):  # an error, or a whole answer, that is no stream
            return self._add(line)
        if not line and self._data:
            raise _malformed("data that is no JSON object")
        return None

    def _add(self, data: bytes) -> Chunk | None:
        if data == b"[DONE]":
            return DONE
        if data:
            self._data.append(data)
            self._data_size += len(data)
        if self._data_size > self._max:
            raise _malformed("an event that is too long")
        return self._whole() if data.endswith(b"}") else None

    def _whole(self) -> dict[str, Any] | None:
        text = b"\n".join(self._data).decode(errors="replace")
        chunk: dict[str, Any]
        try:
            chunk, end = _decode(text)
        except (ValueError, RecursionError):
            return None  # more lines may come; a blank one says that none do
        if end < len(text):
            return None
        self._data.clear()
        self._data_size = 0
        return chunk


def _malformed(what: str) -> ModelUnavailableError:
    return ModelUnavailableError(f"the service sent {what}")
