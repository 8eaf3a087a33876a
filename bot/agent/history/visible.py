"""What a human is shown of a value before they decide: exactly the value, and all of it.

What is not promised here: that letters of two scripts which look alike can be told apart.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator

# Letters and marks that Unicode calls "default ignorable" though their category looks harmless.
_HIDDEN_LETTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U00016fe4\U0001d159"
)
MARKS = 4
"""Marks that one letter may carry: Hebrew and Tibetan need that many, a flood covers its lines."""


def hides(char: str) -> bool:
    """Whether a character shows as nothing, or changes how others show."""
    if (
        char in _HIDDEN_LETTERS
        or "\ufe00" <= char <= "\ufe0f"
        or "\U000e0100" <= char <= "\U000e01ef"
    ):
        return True
    category = unicodedata.category(char)
    return category[0] == "C" or category in {"Zl", "Zp"} or (category == "Zs" and char != " ")


def one_line(text: str, limit: int) -> str:
    """Return a text on one line, without hidden characters, cut to a length."""
    spaced = "".join(" " if char.isspace() else char for char in text)
    seen = "".join(char for char, hidden in _seen(spaced) if not hidden)
    line = " ".join(filter(None, seen.split(" ")))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def visible_json(value: object, *, without: str = "") -> str:
    """Return a value as indented JSON that hides nothing and steers no terminal.

    What would hide stands there as a JSON escape: the text is still exactly the value.

    Args:
        value: What JSON can say of it is shown; the rest as its `str`.
        without: Further characters that are to stand there as escapes.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return "".join(
        f"\\u{ord(char):04x}" if char in without else _escaped(char) if hidden else char
        for char, hidden in _seen(text)
    )


def _escaped(char: str) -> str:
    return char if char == "\n" else json.dumps(char)[1:-1]


def _seen(text: str) -> Iterator[tuple[str, bool]]:
    """Give each character, and whether it hides, or is one mark too many on the same letter."""
    marks = 0
    for char in text:
        hidden = hides(char)
        is_mark = unicodedata.category(char) in {"Mn", "Me"}
        marks = marks + 1 if is_mark else marks if hidden else 0
        yield char, hidden or marks > MARKS
