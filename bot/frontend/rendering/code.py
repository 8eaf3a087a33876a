"""Code blocks and formulas: always closed, and open to nothing that is inside."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.frontend.rendering.degrade import BREAK, language
from bot.frontend.rendering.document import Change, Document, Leaf, Rank, quotes
from bot.frontend.rendering.units import Block, Seam, Unit, reach, whole_clusters

FENCE = "```"
LONGEST_PREFIX = 100
_TORN = re.compile("``(?=`)")


class FenceBlock(Block):
    """A code block, closed or not; what comes from a list around it is not shown."""

    literal = True

    def __init__(self, document: Document, leaf: Leaf) -> None:
        super().__init__(document, leaf.first, leaf.last, leaf.rank)
        token = leaf.tokens[0]
        self._marks = token.markup
        self._language = language(token.info.strip())
        self._start = document.src.index(token.markup, document.starts[leaf.first])
        prefix = document.prefix(leaf.first, self._start)
        self._prefix = prefix if len(prefix) <= LONGEST_PREFIX else ""
        self._opening_at, self._before = document.opening(leaf)
        self._around = quotes(prefix)
        self._content = token.content.split("\n")
        self._closed = token.content.count("\n") == leaf.last - leaf.first - 2
        self.ends = self._closed or leaf.last < document.lines
        self.closing = self._around + FENCE

    def units(self) -> Iterator[Unit]:
        """Return each line; no cut right after the opening or before the closing one."""
        for number in range(self.first, self.last):
            changes = [*self._changes(number)]
            if number == self.last - 1 and self.ends and not self._closed:
                end = self.document.line_end(number)
                changes.append(Change(end, end, f"\n{self.closing}"))
            yield self.unit(number, number + 1, self._rank(number), *changes)

    def is_unclosed(self, unit: Unit, place: int) -> bool:
        """Whether it is not known how long a line is."""
        return unit.end == len(self.document.src) and self.document.src[-1] != "\n"

    def is_open_after(self, unit: Unit) -> bool:
        """Whether the block has to be closed if a part ends after a unit."""
        return not (self.ends and unit.end == self.document.starts[self.last])

    def _rank(self, number: int) -> Rank:
        if number == self.first:
            return self.rank
        closes = self._closed and number == self.last - 1
        return Rank.NOT if closes or number == self.first + 1 else Rank.LINE

    def _changes(self, number: int) -> Iterator[Change]:
        if number == self.first:
            return self._opening()
        if number == self.last - 1 and self._closed:
            return self._ending()
        return self._code(number)

    def before(self, unit: Unit) -> Seam | None:
        """Return the cut before a unit."""
        if unit.start == self.document.starts[self.first]:
            return super().before(unit)
        return self._seam(unit.start)

    def inside(self, unit: Unit, room: int) -> Seam | None:
        """Return a cut inside a line, for one that no part can hold."""
        if self._fits(unit):
            return None
        place = reach(unit, room)
        line = unit.start + len(self._prefix)
        place = whole_clusters(self.document.src, line, place)
        return self._seam(place) if line < place < unit.end else None

    def torn(self, unit: Unit, room: int) -> Seam:
        """Return a cut anywhere in a line."""
        return self._seam(super().torn(unit, room).place)

    def fitting(self, unit: Unit, room: int) -> int:
        """Return 0, unless no part could hold the line: only then it is cut."""
        return 0 if self._fits(unit) else super().fitting(unit, room)

    def _fits(self, unit: Unit) -> bool:
        """Whether a part of its own could hold a line, or the first one with what opens it."""
        if unit.start == self.document.starts[self.first + 1]:
            opening = self.unit(self.first, self.first + 1, self.rank, *self._opening()).size
        else:
            opening = len(self._prefix) + len(self._marks) + len(self._language) + 1
        return opening + unit.size + 1 + len(self.closing) <= self.document.limit

    def _begin(self, number: int) -> int:
        """Return where the code begins in a line, behind the marks of what it is in."""
        line, code = self.document.line(number), self._content[number - self.first - 1]
        start = self.document.starts[number]
        return start + len(line) - len(code) if line.endswith(code) else start

    def _seam(self, place: int) -> Seam:
        opening = f"{self._prefix}{self._marks}{self._language}\n"
        inside = not self.document.begins_line(place)
        carry = opening + (self._prefix if inside else "")
        return Seam(place, place, self.closing, carry, fenced=True)

    def _opening(self) -> Iterator[Change]:
        shown = self._before + FENCE + self._language
        end = self.document.line_end(self.first)
        if self.document.src[self._opening_at : end] != shown:
            yield Change(self._opening_at, end, shown)

    def _ending(self) -> Iterator[Change]:
        start, end = self.document.starts[self.last - 1], self.document.line_end(self.last - 1)
        if self.document.src[start:end] != self.closing:
            yield Change(start, end, self.closing)

    def _code(self, number: int) -> Iterator[Change]:
        start, end = self.document.starts[number], self.document.starts[number + 1]
        begin = self._begin(number)
        if self.document.src[start:begin] != self._around:
            yield Change(start, begin, self._around)
        for found in _TORN.finditer(self.document.src, start, end):
            yield Change(found.end(), found.end(), BREAK)
