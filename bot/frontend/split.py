"""Cutting an answer into messages: nothing is lost, and code blocks stay code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LIMIT = 2000  # code points of one message
FENCE = "```"
_CLOSER = "\n" + FENCE
_TOKEN = re.compile(r"```([\w+#.-]{0,30}(?=\n))?")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the text, with what is put around it to keep a code block closed."""

    text: str
    prefix: str = ""
    suffix: str = ""

    def __str__(self) -> str:
        return f"{self.prefix}{self.text}{self.suffix}"


def split(text: str, limit: int = LIMIT) -> list[str]:
    """Return the messages that show a text; none is blank or longer than the limit.

    While a text grows at its end, all messages but the last stay as they are.
    """
    return [part for part in map(str, pieces(text, limit)) if part.strip()]


def pieces(text: str, limit: int = LIMIT) -> Iterator[Piece]:
    """Cut a text; the texts of the pieces are, joined, exactly the text."""
    start, fence = 0, None
    while start < len(text):
        prefix = "" if fence is None else f"{FENCE}{fence}\n"
        room = limit - len(prefix) - len(_CLOSER)
        end = _cut(text, start, room, code=fence is not None)
        piece = text[start:end]
        start, fence = end, _open_fence(piece, fence)
        yield Piece(piece, prefix, "" if fence is None else _closer_after(piece))


def _closer_after(piece: str) -> str:
    return FENCE if piece.endswith("\n") else _CLOSER


def _open_fence(piece: str, fence: str | None) -> str | None:
    """Return the language of the code block that is open after a piece, `None` without one."""
    for token in _TOKEN.finditer(piece):
        fence = (token[1] or "") if fence is None else None
    return fence


def _cut(text: str, start: int, room: int, *, code: bool) -> int:
    """Return where a piece that begins at `start` ends."""
    if len(text) - start <= room:
        return len(text)
    last = start + room
    for separator in ("\n",) if code else ("\n\n", "\n", " "):
        found = text.rfind(separator, start + room // 2, last - len(separator) + 1)
        if found >= 0:
            return found + len(separator)
    return _outside_backticks(text, start, last)


def _outside_backticks(text: str, start: int, end: int) -> int:
    """Move a hard cut back so that it does not tear a fence apart."""
    cut = end
    while cut > start and text[cut - 1] == text[cut] == "`":
        cut -= 1
    return cut if cut > start else end
