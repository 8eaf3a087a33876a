"""The inside of a paragraph, by its places in the document."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from bot.frontend.rendering.document import Document, Leaf
from bot.frontend.rendering.grammar import Pair, Scan, scan


@dataclass(slots=True)
class Inline:
    """The inline constructs of a leaf, by their places in the document."""

    atoms: list[tuple[int, int]] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)


class Prose:
    """A leaf with inline constructs, and where each of its lines begins in the document."""

    def __init__(self, document: Document, leaf: Leaf) -> None:
        self.document = document
        self.leaf = leaf
        self.content = leaf.tokens[1].content

    @cached_property
    def _contents(self) -> list[int]:
        """Where the lines of the content begin in it."""
        return [0, *accumulate(len(line) + 1 for line in self.content.split("\n"))][:-1]

    @cached_property
    def _places(self) -> list[int]:
        """Where they begin in the document."""
        return list(self._align())

    def _align(self) -> Iterator[int]:
        document, leaf = self.document, self.leaf
        for number, line in enumerate(self.content.split("\n"), leaf.first):
            whole = document.line(number) if number < leaf.last else ""
            found = whole.rfind(line.rstrip())
            yield document.starts[min(number, leaf.last)] + max(found, 0)

    def place(self, offset: int) -> int:
        """Return where in the document a place of the content is."""
        number = bisect_right(self._contents, offset) - 1
        return self._places[number] + offset - self._contents[number]

    def line_start(self, place: int) -> int:
        """Return where the content of the line that begins at a place begins."""
        number = bisect_left(self._places, place)
        return self._places[number] if number < len(self._places) else place

    @cached_property
    def scan(self) -> Scan:
        """The inline constructs of the content."""
        return scan(self.content)

    @cached_property
    def inline(self) -> Inline:
        """The inline constructs, by their places in the document."""
        return Inline(
            [(self.place(span.start), self.place(span.end)) for span in self.scan.spans],
            [Pair(self.place(p.start), self.place(p.end), p.marker) for p in self.scan.pairs],
        )
