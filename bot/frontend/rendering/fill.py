"""Filling one message: as much as goes in, cut at the best place near its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bot.frontend.rendering.blocks import blocks
from bot.frontend.rendering.document import Change, Document, Rank
from bot.frontend.rendering.pieces import Piece
from bot.frontend.rendering.units import SLACK, Seam, Unit

NEAR_NOTHING = 16  # code points


class Filled(NamedTuple):
    """A part.

    Attributes:
        pieces: What it consists of.
        carry: What is put before the rest.
        taken: How much of the text it took.
        whole: Whether that was all.
        torn: Whether it would perhaps be cut elsewhere if there were more of the text.
    """

    pieces: list[Piece]
    carry: str
    taken: int
    whole: bool
    torn: bool


def fill(text: str, carry: str, limit: int) -> Filled:
    """Return the part that a text begins with.

    Args:
        text: What is left of the author's text, or the beginning of that.
        carry: What the part before left to be put before it.
        limit: How many code points the part may have.
    """
    document = Document(text, carry, limit=limit)
    units: list[Unit] = []
    size = 0
    for unit in _units(document):
        units.append(unit)
        if _goes_over(unit, limit - size):
            return _cut(document, units, size)
        size += unit.size
    is_open = bool(units) and units[-1].block.is_open_after(units[-1])
    closing = units[-1].block.closing if is_open else ""
    end = Seam(len(document.src), len(document.src), closing, fenced=is_open)
    return _filled(document, units, end, whole=True)


def _units(document: Document) -> Iterator[Unit]:
    """Return the units of a document.

    Blank ones at its beginning, and behind what shows nothing, show nothing either.
    """
    showing = False  # whether something was shown right before
    for block in blocks(document):
        units = list(block.units())
        if (block.blank and not showing) or (not block.blank and all(map(_shows_nothing, units))):
            yield from map(_hidden, units)
            showing = showing and block.blank
        else:
            yield from units
            showing = True


def _shows_nothing(unit: Unit) -> bool:
    """Whether all of it is left out, as tags are that stand alone."""
    if not unit.changes or unit.size > NEAR_NOTHING:
        return False
    pieces = unit.block.document.pieces(unit.start, unit.end, list(unit.changes))
    return not "".join(piece.shown for piece in pieces).strip(" >\n")


def _hidden(unit: Unit) -> Unit:
    document = unit.block.document
    change = Change(max(unit.start, len(document.carry)), unit.end, "")
    return Unit(unit.start, unit.end, 0, Rank.NOT, unit.block, (change,))


def _goes_over(unit: Unit, room: int) -> bool:
    """Whether a part cannot end with a unit: without its line end, or with one and a fence."""
    source = unit.block.document.src[unit.start : unit.end]
    if unit.block.is_open_after(unit):
        return unit.size + (not source.endswith("\n")) + len(unit.block.closing) > room
    return not source.isspace() and unit.size - source.endswith("\n") > room


def _cut(document: Document, units: list[Unit], size: int) -> Filled:
    """Cut where the last of the units goes over the limit; `size` is that of those before."""
    last, room = units[-1], document.limit - size
    if last.block.closing:  # wherever it is cut, that has to follow
        room -= 1 + len(last.block.closing)
    seam = _between(document, units, last.block.fitting(last, room), SLACK)
    if seam is None:
        seam = last.block.inside(last, room) if room > 0 else None
    if seam is None:
        seam = _between(document, units, 0, document.limit, least=Rank.AFTER_HEADING)
    if seam is None or seam.resume <= len(document.carry):
        seam = _forced(document, units, room)
    return _filled(document, units, seam, whole=False)


def _between(
    document: Document, units: list[Unit], free: int, slack: int, least: Rank = Rank.LINE
) -> Seam | None:
    """Return the best cut between units that leaves at most so many lines free."""
    best, rank = None, Rank(least - 1)
    size = sum(unit.size for unit in units[:-1])
    for number in range(len(units) - 1, 0, -1):
        if free > slack or rank == Rank.PARAGRAPH or not size:
            break
        unit, before = units[number], units[number - 1]
        if unit.rank > rank:
            seam = unit.block.before(unit)
            kept = size - before.size if before.block.blank else size
            if seam is not None and kept + len(seam.closing) <= document.limit + 1:
                best, rank = _behind_gap(seam, before), unit.rank
        free += before.lines
        size -= before.size
    return best


def _behind_gap(seam: Seam, before: Unit) -> Seam:
    """Return a cut that leaves out the blank lines before it."""
    return seam._replace(place=before.start) if before.block.blank else seam


def _forced(document: Document, units: list[Unit], room: int) -> Seam:
    """Return a cut where there is no good one, so that there always is one."""
    last = units[-1]
    if any(unit.size for unit in units[:-1]) and last.start > len(document.carry):
        return last.block.before(last) or Seam(last.start, last.start)
    return last.block.torn(last, room)


def _filled(document: Document, units: list[Unit], seam: Seam, *, whole: bool) -> Filled:
    changes = [c for unit in units for c in unit.changes if c.start < seam.place >= c.end]
    if seam.changes is not None:
        first = units[-1].start
        changes = [c for c in changes if c.start < first] + list(seam.changes)
    pieces = list(document.pieces(0, seam.place, changes))
    _close(pieces, seam)
    pieces.append(Piece("", document.original(seam.place, seam.resume)))
    taken = max(seam.resume - len(document.carry), 0)
    return Filled(pieces, seam.carry, taken, whole, not whole and _is_torn(units[-1], seam))


def _is_torn(unit: Unit, seam: Seam) -> bool:
    return unit.block.is_unclosed(unit, seam.place)


def _close(pieces: list[Piece], seam: Seam) -> None:
    closing = seam.closing
    if not seam.fenced:
        _trim(pieces)
    elif not pieces[-1].shown.endswith("\n"):
        closing = f"\n{closing}"
    if closing:
        pieces.append(Piece(closing, ""))


def _trim(pieces: list[Piece]) -> None:
    """Show no blanks at the end."""
    for number in range(len(pieces) - 1, -1, -1):
        shown, source = pieces[number]
        bare = shown.rstrip()
        if shown == source:
            pieces[number : number + 1] = [Piece(bare, bare), Piece("", source[len(bare) :])]
        else:
            pieces[number] = Piece(bare, source)
        if bare:
            return
