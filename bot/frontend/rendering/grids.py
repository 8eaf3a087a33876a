"""Tables as blocks: cut between rows, each piece with the header."""

from __future__ import annotations

from collections.abc import Iterator

from bot.frontend.rendering.document import Change, Document, Leaf, quotes
from bot.frontend.rendering.tables import Table
from bot.frontend.rendering.units import Block, Seam, Unit


class TableBlock(Block):
    """A table."""

    literal = True

    def __init__(self, document: Document, leaf: Leaf, *, start: int, prefix: str) -> None:
        super().__init__(document, leaf.first, leaf.last, leaf.rank)
        self._start = start
        self._prefix = prefix
        self._opening, self._before = document.opening(leaf)
        self.table = Table(leaf.tokens, quotes(prefix))
        self.header = self._header()

    def largest(self) -> int:
        """Return how many code points the least piece needs that every row fits into."""
        return max(len(self.header), self.table.widest())

    def units(self) -> Iterator[Unit]:
        """Return the whole table."""
        shown = self._shown(len(self.table.rows), self.document.line_end(self.last - 1))
        yield self.unit(self.first, self.last, self.rank, shown)

    def inside(self, unit: Unit, room: int) -> Seam | None:
        """Return the cut after the last row for which there is room."""
        count = self.table.fitting(room)
        if not count or count == len(self.table.rows):
            return None
        place = self.document.starts[self.first + 2 + count]
        shown = self._shown(count, self.document.line_end(self.first + 1 + count))
        return Seam(place, place, carry=self.header, changes=(shown,))

    def fitting(self, unit: Unit, room: int) -> int:
        """Return how many rows there is room for, and the header."""
        return self.table.fitting(room) + 2

    def _shown(self, count: int, end: int) -> Change:
        return Change(self._opening, end, self._before + self.table.shown(count))

    def _header(self) -> str:
        document, below = self.document, self.first + 1
        names = document.src[self._start : document.line_end(self.first)]
        marks = document.src[document.starts[below] : document.line_end(below)]
        return f"{self._prefix}{names}\n{marks}\n"
