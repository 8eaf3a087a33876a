"""What a rendering is made of: shown text, and the source that each of it stands for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Piece(NamedTuple):
    """A stretch of a message.

    It is *kept* where both are the same, *added* without a source, *dropped* when nothing is
    shown, and else *changed*, as a table is.
    """

    shown: str
    source: str


@dataclass(frozen=True, slots=True)
class Part:
    """One message."""

    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """What is sent."""
        return "".join(piece.shown for piece in self.pieces)

    @property
    def source(self) -> str:
        """What of the author's text it stands for."""
        return "".join(piece.source for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A text as messages.

    Attributes:
        parts: The messages, in order; none if nothing in the text shows.
        attachment: The whole text, to be attached as a file, when the parts are only its opening.
    """

    parts: tuple[Part, ...]
    attachment: str | None = None

    @property
    def messages(self) -> list[str]:
        """The text of each message."""
        return [part.text for part in self.parts]


def undo(parts: Iterable[Part]) -> str:
    """Return the text that the parts came from: each piece is replaced by its source."""
    return "".join(part.source for part in parts)
