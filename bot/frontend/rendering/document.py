"""A stretch of a text, read into blocks that know their place in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from markdown_it.token import Token

from bot.frontend.rendering.grammar import block_tokens
from bot.frontend.rendering.pieces import Piece

_KINDS = {
    "paragraph_open": "prose",
    "heading_open": "heading",
    "fence": "fence",
    "math_block": "math",
    "hr": "rule",
    "table_open": "table",
}
_CARRIAGE = re.compile(r"\r\n?")  # line ends that not every client of Discord knows
_BARE_QUOTE = re.compile(r"^[ \t>]*>(?! )", re.MULTILINE)
_MARKS = re.compile(r"[ \t>]*")
_MARKS_AND_ITEMS = re.compile(r"(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*")
_TO_BLANK = {char: " " for char in range(33, 127) if char != ord(">")}


class Rank(IntEnum):
    """How good it is to cut at a place; behind a heading only if nothing else is left."""

    NOT = 0
    AFTER_HEADING = 1
    LINE = 2
    PARAGRAPH = 3


class Change(NamedTuple):
    """What is shown in place of a stretch of the source."""

    start: int
    end: int
    shown: str


@dataclass(slots=True)
class Leaf:
    """A block without blocks inside: its lines, and its token with those after it."""

    kind: str
    first: int
    last: int  # the line after it
    tokens: list[Token]
    rank: Rank
    in_item: bool  # whether it is what a list item begins with


class Document:
    """The source: what is carried over from the part before, then the stretch of the text.

    Places are offsets in `src`, which is as long as the two together; only the kind of its line
    ends differs.
    """

    def __init__(self, text: str, carry: str = "", *, limit: int = 2000) -> None:
        self.text = text
        self.limit = limit  # of a part
        self.carry = carry
        self.src = carry + text
        if "\r" in text:
            self.src = carry + text.replace("\r\n", " \n").replace("\r", "\n")
        lines = self.src.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in lines)]
        if not lines[-1]:
            self.starts.pop()
        self.starts[-1] = len(self.src)
        self.lines = len(self.starts) - 1

    @cached_property
    def leaves(self) -> list[Leaf]:
        """The blocks, in order."""
        return list(self._read())

    def _read(self) -> Iterator[Leaf]:
        tokens = block_tokens(self.src if self.src.endswith("\n") else self.src + "\n")
        item, last, after_heading = -1, 0, False
        for number, token in enumerate(tokens):
            if token.type == "list_item_open" and token.map:
                item = token.map[0]
            kind = _KINDS.get(token.type)
            if kind is None or not token.map:
                continue
            first, end = token.map[0], min(token.map[1], self.lines)
            tight = item == first and first == last
            rank = Rank.LINE if tight else Rank.PARAGRAPH
            own = tokens[number:] if kind == "table" else tokens[number : number + 2]
            yield Leaf(
                kind, first, end, own, Rank.AFTER_HEADING if after_heading else rank, item == first
            )
            last, after_heading = end, kind == "heading"

    def line(self, number: int) -> str:
        """Return a line without its end."""
        return self.src[self.starts[number] : self.line_end(number)]

    def line_end(self, number: int) -> int:
        """Return where the text of a line ends."""
        end = self.starts[number + 1]
        return end - 1 if self.src[end - 1] == "\n" else end

    def text_start(self, leaf: Leaf) -> int:
        """Return where the text of a table, rule or formula begins, behind its containers."""
        marks = _MARKS_AND_ITEMS if leaf.in_item else _MARKS
        found = marks.match(self.src, self.starts[leaf.first])
        return found.end() if found else self.starts[leaf.first]

    def opening(self, leaf: Leaf) -> tuple[int, str]:
        """Return where a code block begins to be shown, and what is shown before its first line.

        Discord shows a block as it is only if it stands on lines of its own, in no list.
        """
        around = quotes(self.prefix(leaf.first, self.text_start(leaf)))
        if leaf.in_item:
            return self.text_start(leaf), f"\n{around}"
        return self.starts[leaf.first], around

    @cached_property
    def has_bare_quotes(self) -> bool:
        """Whether there may be marks of quotes without a blank, which Discord does not know."""
        return ">" in self.src and _BARE_QUOTE.search(self.src) is not None

    def quote_marks(self, first: int, last: int) -> Iterator[Change]:
        """Return lines' marks of quotes with the blanks that Discord wants to see behind them."""
        for number in range(first, last):
            found = _MARKS.match(self.src, self.starts[number], self.line_end(number))
            if found is not None and _BARE_QUOTE.match(found[0]):
                shown = found[0].rstrip(" ").replace("> ", ">").replace(">", "> ")
                rest = found[0][len(found[0].rstrip(" ")) :]
                yield Change(found.start(), found.end(), shown + rest[1:])

    def begins_line(self, place: int) -> bool:
        """Whether a line begins at a place."""
        return place == 0 or self.src[place - 1] == "\n"

    def original(self, start: int, end: int) -> str:
        """Return the author's bytes of a stretch, without what was carried over."""
        skip = len(self.carry)
        return self.text[max(start - skip, 0) : max(end - skip, 0)]

    def pieces(self, start: int, end: int, changes: list[Change]) -> Iterator[Piece]:
        """Return a stretch as pieces."""
        for change in changes:
            yield from self._kept(start, change.start)
            yield Piece(change.shown, self.original(change.start, change.end))
            start = change.end
        yield from self._kept(start, end)

    def _kept(self, start: int, end: int) -> Iterator[Piece]:
        if start < len(self.carry):
            yield Piece(self.carry[start:end], "")
        kept = self.original(start, end)
        if "\r" in kept:
            yield Piece(_CARRIAGE.sub("\n", kept), kept)
        elif kept:
            yield Piece(kept, kept)

    def prefix(self, number: int, until: int) -> str:
        """Return how a further line begins in the containers of a line of which `until` is text.

        Quotes are repeated, list markers become blanks.
        """
        return self.src[self.starts[number] : until].translate(_TO_BLANK)


def quotes(prefix: str) -> str:
    """Return what of a prefix is shown before code: Discord has no quotes in quotes, or lists."""
    return "> " if ">" in prefix else ""
