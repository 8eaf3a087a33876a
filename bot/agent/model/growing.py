"""A text that grows by many little pieces, without being kept as many.

A string is an object of fifty bytes beside its letters, which is most of it where it is a word.
"""

from __future__ import annotations

TOGETHER = 32
"""So many pieces become one."""


class Growing:
    """A text that grows at its end; `len` is how many characters it has."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._little = 0  # how many of them, at the end, have not been joined
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        """Let the text grow."""
        self._pieces.append(piece)
        self._length += len(piece)
        self._little += 1
        if self._little == TOGETHER:
            self._pieces[-TOGETHER:] = ["".join(self._pieces[-TOGETHER:])]
            self._little = 0

    def since(self, start: int) -> str:
        """Return the text from a place on; costs O(what it returns)."""
        at, place = self._piece_at(start)
        return "".join(self._pieces[at:])[start - place :]

    def cut(self, start: int) -> str:
        """Take away the text from a place on, and return it."""
        taken = self.since(start)
        at, place = self._piece_at(start)
        self._pieces[at:] = ["".join(self._pieces[at:])[: start - place]]
        self._little, self._length = 0, start
        return taken

    def _piece_at(self, start: int) -> tuple[int, int]:
        """Return which piece has a place in it, or ends there, and where that piece begins."""
        at, place = len(self._pieces), self._length
        while place > start:
            at -= 1
            place -= len(self._pieces[at])
        return at, place
