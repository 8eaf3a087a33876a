"""The one renderer: model Markdown in, Discord messages out, for the preview and at the end.

Each part is a list of pieces, and each piece has the source that it stands for: `undo` puts these
together again. A text of which nothing shows has no parts.

While a text grows at its end, all messages but the last stay as they are, except where Markdown
lets what comes later change what came before the cut: a style, link or code span that is open at
the cut is closed behind it (looked for up to four messages on), or the next line makes a heading
or the header of a table of the line before it. What is further back than that never changes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from bot.agent.model.growing import Growing
from bot.frontend.rendering.degrade import BREAK
from bot.frontend.rendering.fill import Filled, fill
from bot.frontend.rendering.pieces import Part, Piece, Rendered, undo
from bot.frontend.rendering.unfinished import unfinished

__all__ = ["LIMIT", "MAX_PARTS", "Part", "Piece", "Rendered", "Stream", "render", "split", "undo"]

LIMIT = 2000  # code points of one message
MAX_PARTS = 5
FARTHEST = 4  # messages: where what ends a style or a link is no longer looked for
_LIST = re.compile(r"\s+(?:[-*]|\d+\.) ")
_SOME_BLOCK = re.compile(r"\s+(?:#{1,3} |-# |> |```)")
_MARK = re.compile(r"[ \t>]*(?:-+|=+)[ \t]*\Z")
NOTE = "\n-# The whole answer is in the attached file."


def render(text: str, *, limit: int = LIMIT, max_parts: int | None = MAX_PARTS) -> Rendered:
    """Return the messages that show a text.

    Args:
        text: Markdown, as models write it. Any text will do.
        limit: How many code points a message may have; at least 200.
        max_parts: How many messages there may be; with more, the opening is shown, and the
            whole is told to be attached. `None` for any number.
    """
    stream = Stream(limit=limit, max_parts=max_parts)
    stream.add(text)
    return stream.rendered()


def split(text: str, limit: int = LIMIT) -> list[str]:
    """Return the messages that show a text, however many; none is blank."""
    return render(text, limit=limit, max_parts=None).messages


class _Place(NamedTuple):
    """Where a part begins: in the text, what is put before it, and what was left out there."""

    at: int = 0
    carry: str = ""
    dropped: tuple[Piece, ...] = ()


class Stream:
    """A text that grows. Adding to it is cheap; a look at it costs no more than one message."""

    def __init__(self, *, limit: int = LIMIT, max_parts: int | None = MAX_PARTS) -> None:
        self._limit = limit
        self._max = max_parts
        self._text = Growing()
        self._seen = 0  # how much of it is in `_tail`, or in the finished parts
        self._tail = ""
        self._place = _Place()  # in `_tail`
        self._done: list[Part] = []
        self._over = False

    def add(self, chunk: str) -> None:
        """Let the text grow."""
        self._text.add(chunk)

    def preview(self) -> list[str]:
        """Return the messages so far; the last one says that more comes."""
        parts, over = self._look(finished=False)
        messages = [part.text for part in parts]
        if messages and not over:
            messages[-1] = unfinished(messages[-1], self._limit)
        return messages

    def rendered(self) -> Rendered:
        """Return the text so far as messages, as if it were finished."""
        parts, over = self._look(finished=True)
        return Rendered(tuple(parts), str(self._text) if over else None)

    def _look(self, *, finished: bool) -> tuple[list[Part], bool]:
        """Return the parts, and whether the text has more than they show."""
        if self._over:
            return self._done, True
        self._tail = self._tail[self._place.at :] + self._text.since(self._seen)
        self._place, self._seen = self._place._replace(at=0), len(self._text)
        parts, place, over = list(self._done), self._place, False
        text = self._tail if finished else _without_mark(self._tail)
        settled = True
        while place.at < len(text) and not over:
            last = len(parts) + 1 == self._max
            part, after, sure = _next(text, place, self._limit, last=last)
            settled = settled and sure
            over = last and after.at < len(text) and part is not None
            if part is not None:
                parts.append(part)
            place = after
            if settled:
                self._done, self._place, self._over = list(parts), place, over
        return _with(parts, place.dropped), over


def _next(text: str, place: _Place, limit: int, *, last: bool) -> tuple[Part | None, _Place, bool]:
    """Return a part, if anything shows, the place after it, and whether both are settled."""
    filled, settled = _indented(text, place, limit)
    if last and not filled.whole:
        filled, _ = _indented(text, place, limit - len(NOTE))
        filled.pieces.append(Piece(NOTE, ""))
    after = _Place(place.at + filled.taken, filled.carry)
    part = Part(place.dropped + tuple(piece for piece in filled.pieces if any(piece)))
    if part.text.strip():
        return part, after, settled
    return None, after._replace(dropped=(Piece("", part.source),)), settled


def _indented(text: str, place: _Place, limit: int) -> tuple[Filled, bool]:
    """Fill a part, and keep the blanks that it begins with: Discord would take them away."""
    filled, settled = _fill(text, place, limit)
    guard = _guard("".join(piece.shown for piece in filled.pieces[:4]))
    if guard:
        filled, settled = _fill(text, place, limit - len(guard))
        filled.pieces.insert(0, Piece(guard, ""))
    return filled, settled


def _guard(shown: str) -> str:
    """Return what has to stand before the first line, so that it stays indented."""
    if not shown[:1].isspace() or not shown.strip() or _SOME_BLOCK.match(shown):
        return ""
    return f"{BREAK}\n" if _LIST.match(shown) else BREAK


def _fill(text: str, place: _Place, limit: int) -> tuple[Filled, bool]:
    """Fill a part from no more of the text than it takes, and tell whether that is settled."""
    size = limit + limit // 8
    while True:
        seen_all = place.at + size >= len(text)
        stretch = text[place.at : place.at + size]
        filled = fill(stretch if seen_all else _without_mark(stretch), place.carry, limit)
        if seen_all or not (filled.whole or (filled.torn and size < FARTHEST * limit)):
            return filled, not seen_all
        size *= 2


def _without_mark(text: str) -> str:
    """Return a text without a beginning of a line that could yet be a list, or underline one."""
    found = _MARK.match(text, text.rfind("\n") + 1)
    return text[: found.start()] if found and found.start() else text


def _with(parts: list[Part], dropped: tuple[Piece, ...]) -> list[Part]:
    if parts and dropped:
        return [*parts[:-1], Part(parts[-1].pieces + dropped)]
    return parts
