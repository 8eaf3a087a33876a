"""What a part takes whole, if it can, and how it may be cut if it must."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wcwidth import grapheme_boundary_before

from bot.frontend.rendering.document import Change, Document, Rank
from bot.frontend.rendering.tables import COLUMNS

SLACK = 17  # lines of a phone that a part may leave free to be cut at a better place


class Seam(NamedTuple):
    """A cut.

    Attributes:
        place: Where the part ends.
        resume: Where the next begins; what is between is not shown.
        closing: Added at the end of the part.
        fenced: Whether that takes a line of its own.
        carry: Put before the rest.
        changes: What replaces the changes of the unit that is cut.
    """

    place: int
    resume: int
    closing: str = ""
    carry: str = ""
    changes: tuple[Change, ...] | None = None
    fenced: bool = False


class Block:
    """Lines that are shown as they are."""

    literal = False  # whether marks of quotes at the beginning of its lines are its own affair
    blank = False  # whether it shows nothing but perhaps the mark of a quote
    closing = ""  # has to follow, on a line of its own, if a part ends where it is open

    def __init__(self, document: Document, first: int, last: int, rank: Rank = Rank.NOT) -> None:
        self.document = document
        self.first = first
        self.last = last
        self.rank = rank

    def units(self) -> Iterator[Unit]:
        """Return what it consists of."""
        for number in range(self.first, self.last):
            yield self.unit(number, number + 1, self.rank if number == self.first else Rank.LINE)

    def unit(self, first: int, last: int, rank: Rank, *changes: Change) -> Unit:
        """Return lines as one unit."""
        start, end = self.document.starts[first], self.document.starts[last]
        size = end - start
        if not self.literal and self.document.has_bare_quotes:
            changes = (*self.document.quote_marks(first, last), *changes)
            changes = tuple(sorted(changes))
        if changes:
            size += sum(len(c.shown) - (c.end - c.start) for c in changes)
        return Unit(start, end, size, rank, self, changes)

    def before(self, unit: Unit) -> Seam | None:
        """Return the cut before a unit; `None` if what follows would not be shown as it is."""
        return Seam(unit.start, unit.start)

    def inside(self, unit: Unit, room: int) -> Seam | None:
        """Return the best cut in a unit that leaves at most so many code points to the part."""
        return self.torn(unit, room)

    def torn(self, unit: Unit, room: int) -> Seam:
        """Return a cut in a unit that no part can hold, and that has no place for one."""
        least = max(unit.start, len(self.document.carry))
        place = max(reach(unit, room), least + 1)
        place = whole_clusters(self.document.src, least, place)
        return Seam(place, place)

    def is_open_after(self, unit: Unit) -> bool:
        """Whether it has to be closed if a part ends after a unit."""
        return False

    def is_unclosed(self, unit: Unit, place: int) -> bool:
        """Whether a cut in or before a unit depends on what is behind the document."""
        return False

    def fitting(self, unit: Unit, room: int) -> int:
        """Return how many lines of a phone the beginning of a unit would fill in the room."""
        return room // COLUMNS


@dataclass(slots=True)
class Unit:
    """Some lines of a block.

    Attributes:
        start: Where they begin in the document.
        end: Where they end, with the line end.
        size: How many code points they show.
        rank: How good a cut before them is.
        block: What they belong to.
        changes: What in them is shown otherwise.
    """

    start: int
    end: int
    size: int
    rank: Rank
    block: Block
    changes: Sequence[Change] = ()

    @property
    def lines(self) -> int:
        """How many lines of a phone they take."""
        return -(-self.size // COLUMNS)


class Gap(Block):
    """Blank lines, and the marks of a quote without text."""

    blank = True

    def units(self) -> Iterator[Unit]:
        """Return all as one unit."""
        yield self.unit(self.first, self.last, Rank.NOT)


class Solid(Block):
    """Lines that are shown as something else, all or none."""

    literal = True

    def __init__(
        self, document: Document, first: int, last: int, rank: Rank, *, start: int, shown: str
    ) -> None:
        super().__init__(document, first, last, rank)
        self.start = start
        self.shown = shown

    def units(self) -> Iterator[Unit]:
        """Return all as one unit."""
        end = self.document.line_end(self.last - 1)
        yield self.unit(self.first, self.last, self.rank, Change(self.start, end, self.shown))

    def inside(self, unit: Unit, room: int) -> Seam | None:
        """Return none."""
        return None

    def fitting(self, unit: Unit, room: int) -> int:
        """Return 0: it fits whole or not at all."""
        return 0


def reach(unit: Unit, room: int) -> int:
    """Return the last place in a unit up to which it shows at most so many code points."""
    at = unit.start
    for change in unit.changes:
        if change.start - at >= room:
            break
        room -= change.start - at
        if len(change.shown) > room:
            return change.start
        room, at = room - len(change.shown), change.end
    return min(at + room, unit.end)


def whole_clusters(text: str, start: int, place: int) -> int:
    """Move a cut back to the beginning of a grapheme cluster, unless it is an endless one."""
    near = max(start, place - 64)
    window = text[near : place + 1]
    if place >= len(text) or place <= near:
        return place
    boundary = near + grapheme_boundary_before(window, len(window))
    return boundary if boundary > near else place
