"""What a human is shown of a value before they decide: exactly the value, and all of it."""

from __future__ import annotations

import json
import unicodedata

# Letters and marks that Unicode calls "default ignorable" though their category looks harmless.
_HIDDEN_LETTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
)


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


def visible_json(value: object, *, without: str = "") -> str:
    """Return a value as indented JSON that hides nothing and steers no terminal.

    What would hide stands there as a JSON escape: the text is still exactly the value.

    Args:
        value: What JSON can say of it is shown; the rest as its `str`.
        without: Further characters that are to stand there as escapes.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return "".join(f"\\u{ord(char):04x}" if char in without else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return json.dumps(char)[1:-1] if char != "\n" and hides(char) else char
