"""Paragraphs and headings: cut between lines, sentences, words, and never inside a link."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from bot.frontend.rendering.degrade import in_prose
from bot.frontend.rendering.document import Document, Leaf, Rank
from bot.frontend.rendering.grammar import Pair, block_tokens, open_markers
from bot.frontend.rendering.inline import Prose
from bot.frontend.rendering.tables import COLUMNS
from bot.frontend.rendering.units import SLACK, Block, Seam, Unit, reach, whole_clusters

_TRIES = 40  # places that are looked at before a cut is made just anywhere
_LONGEST_PREFIX = 100
_MOST_STYLES = 10
_FOR_STYLES = 40  # code points that their closing may take
_SENTENCE = re.compile("[.!?…:;][\"'\u201d\u2019)\\]*_]*\\s+|[\u3002\uff01\uff1f\uff1b]")
_OPENERS = re.compile(r"[\[<]|\$|\\[(\[]")
_WORD = re.compile(r"\s+")


class ProseBlock(Block):
    """A paragraph or a heading."""

    def __init__(self, document: Document, leaf: Leaf) -> None:
        super().__init__(document, leaf.first, leaf.last, leaf.rank)
        self._prose = Prose(document, leaf)
        self._marker = ""
        if leaf.kind == "heading":
            level = min(int(leaf.tokens[0].tag[1:]), 3)
            self._marker = f"{'#' * level} "

    def units(self) -> Iterator[Unit]:
        """Return each line; a change over several makes them one."""
        changes = in_prose(self._prose)
        if not changes:
            yield from super().units()
            return
        first, rank, taken = self.first, self.rank, 0
        for last in range(self.first + 1, self.last + 1):
            end = self.document.starts[last]
            upto = bisect_left(changes, (end,))
            if upto and changes[upto - 1].end >= end and last < self.last:
                continue
            yield self.unit(first, last, rank, *changes[taken:upto])
            first, rank, taken = last, Rank.LINE, upto

    def before(self, unit: Unit) -> Seam | None:
        """Return the cut before one of the lines."""
        if unit.start == self.document.starts[self.first]:
            return super().before(unit)
        return self._seam(unit.start, unit)

    def inside(self, unit: Unit, room: int) -> Seam | None:
        """Return the best cut in a line."""
        end = reach(unit, room)
        for place in self._places(unit, end):
            seam = self._seam(place, unit)
            if seam is not None and reach(unit, room - len(seam.closing)) >= place:
                return seam
        return self._anywhere(unit, end, room)

    def _places(self, unit: Unit, end: int) -> Iterator[int]:
        begin = max(self._text_start(unit), end - SLACK * COLUMNS)
        text = self.document.src[begin:end]
        for kind in (_SENTENCE, _WORD):
            ends = [begin + found.end() for found in kind.finditer(text)]
            yield from reversed(ends[-_TRIES:])

    def _anywhere(self, unit: Unit, end: int, room: int) -> Seam | None:
        """Return a cut where no good one is: between any two characters that may be parted."""
        begin = self._text_start(unit)
        for _ in range(_TRIES):
            if end <= begin:
                break
            place = whole_clusters(self.document.src, begin, end)
            seam = self._seam(place, unit)
            if seam is not None and reach(unit, room - len(seam.closing)) >= place:
                return seam
            end = max((a for a, b in self._atoms(unit) if a < place < b), default=place - 1)
        return None

    def torn(self, unit: Unit, room: int) -> Seam:
        """Return a cut inside what should not be cut; the halves keep their style."""
        place = super().torn(unit, room - _FOR_STYLES).place
        styles = [p for p in self._prose.inline.pairs if p.start < place < p.end]
        if len(styles) > _MOST_STYLES or any(_hollow(pair, place) for pair in styles):
            return Seam(place, place)
        carry = self._carry() + self._marker + "".join(pair.marker for pair in styles)
        return Seam(place, place, "".join(p.marker for p in reversed(styles)), carry)

    def _atoms(self, unit: Unit) -> Iterator[tuple[int, int]]:
        yield from self._prose.inline.atoms
        yield from ((change.start, change.end) for change in unit.changes)

    def _text_start(self, unit: Unit) -> int:
        """Return where the text of a unit begins, behind the marks of its containers."""
        return max(unit.start, self._prose.line_start(unit.start))

    def is_unclosed(self, unit: Unit, place: int) -> bool:
        """Whether a style or link begins here that may end behind the document."""
        if self.last < self.document.lines or place <= self.document.starts[self.first]:
            return False
        content, found = self._prose.content, self._prose.scan
        if found.dense:
            return False
        links = {place.start() for place in _OPENERS.finditer(content)}
        for span in found.spans:
            links.difference_update(range(span.start, span.end))
        return bool(links or open_markers(found, content))

    def _seam(self, place: int, unit: Unit) -> Seam | None:
        """Return the cut at a place; `None` where it would tear something or begin another."""
        if any(a < place < b for a, b in self._atoms(unit)):
            return None
        styles = [pair for pair in self._prose.inline.pairs if pair.start < place < pair.end]
        if len(styles) > _MOST_STYLES or any(_hollow(pair, place) for pair in styles):
            return None
        resume = self._resume(place)
        rest = self.document.src[resume : self.document.src.find("\n", resume) + 1 or None]
        opening = "".join(pair.marker for pair in styles)
        if not _is_prose(self._marker + opening + rest):
            return None
        carry = self._carry() + self._marker + opening
        return Seam(place, resume, "".join(p.marker for p in reversed(styles)), carry)

    def _resume(self, place: int) -> int:
        """Return where the text goes on after a place."""
        if self.document.begins_line(place):
            return self._prose.line_start(place)
        text = self.document.src
        while place < len(text) and text[place] in " \t":
            place += 1
        return place

    def _carry(self) -> str:
        prefix = self.document.prefix(self.first, self._prose.place(0))
        return prefix if ">" in prefix and len(prefix) < _LONGEST_PREFIX else ""


def _hollow(pair: Pair, place: int) -> bool:
    """Whether a cut would leave nothing on one side of it."""
    width = len(pair.marker)
    return place <= pair.start + width or place >= pair.end - width


def _is_prose(line: str) -> bool:
    if line[:1].isalpha():
        return True
    tokens = block_tokens(line.rstrip("\n") + "\n")
    return bool(tokens) and tokens[0].type in {"paragraph_open", "heading_open"}
