"""Tables: aligned in a code block, or a list of records where a phone is too narrow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it.token import Token
from wcwidth import width

from bot.frontend.rendering.degrade import BREAK, on_one_line, plain
from bot.frontend.rendering.grammar import inline_tokens

COLUMNS = 42  # of a phone
_MARKUP = re.compile(r"[\\`*_~|<!\[&$]")
_BETWEEN = " │ "


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its Markdown, and what of it a code block shows."""

    markdown: str
    plain: str
    width: int
    linked: bool

    @classmethod
    def read(cls, markdown: str) -> Cell:
        """Read a cell's Markdown."""
        if not _MARKUP.search(markdown):
            return cls(markdown, markdown, width(markdown, control_codes="ignore"), linked=False)
        markdown = on_one_line(markdown)
        tokens = inline_tokens(markdown)
        text = plain(tokens).replace("```", f"``{BREAK}`")
        linked = any(token.type in {"link_open", "image", "discord"} for token in tokens)
        return cls(markdown, text, width(text, control_codes="ignore"), linked)


Row = Sequence[Cell]


class Table:
    """A table, of which the first rows can be shown without those after them."""

    def __init__(self, tokens: Sequence[Token], prefix: str) -> None:
        self._prefix = prefix
        rows, self._right = _read(tokens)
        self.header, self.rows = rows[0], rows[1:]

    def fitting(self, room: int) -> int:
        """Return how many rows, from the first on, fit into so many code points."""
        widths = [cell.width for cell in self.header]
        records, aligned = 0, all(not cell.linked for cell in self.header)
        hidden = _hidden(self.header)
        for number, row in enumerate(self.rows):
            widths = [max(pair) for pair in zip(widths, (c.width for c in row), strict=True)]
            aligned = aligned and not any(cell.linked for cell in row)
            hidden += _hidden(row)
            records += len(self._record(row)) + len(self._prefix) + 1
            if not aligned or _across(widths) > COLUMNS:
                size = records
            else:
                size = (len(self._prefix) + _across(widths) + 1) * (number + 3)
                size += 2 * len(self._prefix) + 8 + hidden
            if size > room:
                return number
        return len(self.rows)

    def widest(self) -> int:
        """Return how many code points the largest row needs, with the header."""
        header = sum(len(cell.markdown) + 4 for cell in self.header)
        return header + max(
            sum(len(c.markdown) + 1 for c in row) for row in self.rows or [self.header]
        )

    def shown(self, count: int) -> str:
        """Return the first rows as Discord shows them best; lines after the first are prefixed."""
        rows = self.rows[:count]
        every = [self.header, *rows]
        widths = [max(cell.width for cell in column) for column in zip(*every, strict=True)]
        linked = any(cell.linked for row in every for cell in row)
        if (rows and linked) or (rows and _across(widths) > COLUMNS):
            records = f"{self._prefix.rstrip()}\n".join(self._record(row) for row in rows)
            return records.rstrip().removeprefix(self._prefix)
        return self._block(rows, widths)

    def _block(self, rows: Sequence[Row], widths: list[int]) -> str:
        lines = [
            "```",
            self._aligned(self.header, widths),
            "─┼─".join("─" * each for each in widths),
            *(self._aligned(row, widths) for row in rows),
            "```",
        ]
        return f"\n{self._prefix}".join(lines)

    def _aligned(self, row: Row, widths: list[int]) -> str:
        cells = zip(row, widths, self._right, strict=True)
        return _BETWEEN.join(_padded(cell, wide, right) for cell, wide, right in cells).rstrip()

    def _record(self, row: Row) -> str:
        return "".join(f"{self._prefix}{line}\n" for line in self._record_lines(row))

    def _record_lines(self, row: Row) -> Iterator[str]:
        title, *cells = row
        if not cells:
            yield f"- {title.markdown}"
            return
        styled = _MARKUP.search(title.markdown)
        yield title.markdown if styled else f"**{title.markdown or '?'}**"
        for name, cell in zip(self.header[1:], cells, strict=True):
            if cell.markdown:
                yield f"- {name.markdown}: {cell.markdown}" if name.markdown else cell.markdown


def _hidden(row: Row) -> int:
    """Return how many code points more a row has than it takes columns."""
    return sum(max(len(cell.plain) - cell.width, 0) for cell in row)


def _across(widths: Sequence[int]) -> int:
    return sum(widths) + len(_BETWEEN) * (len(widths) - 1)


def _padded(cell: Cell, wide: int, right: bool) -> str:
    blanks = " " * (wide - cell.width)
    return blanks + cell.plain if right else cell.plain + blanks


def _read(tokens: Sequence[Token]) -> tuple[list[list[Cell]], list[bool]]:
    rows: list[list[Cell]] = []
    right: list[bool] = []
    for token in tokens:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "th_open":
            right.append("right" in str(token.attrs.get("style", "")))
        elif token.type == "inline":
            rows[-1].append(Cell.read(token.content))
    return rows, right
