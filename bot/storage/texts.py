"""Texts as every engine can keep them.

PostgreSQL refuses NUL, and neither it nor SQLite takes half a surrogate pair. Every parameter of
every statement passes here, so that what is stored and what is looked for change alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

UNKEPT = "\ufffd"
"""What stands for a character that cannot be kept."""


def kept(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return parameters with `UNKEPT` for each character that some engine cannot keep."""
    return tuple([_kept(value) if isinstance(value, str) else value for value in values])


def _kept(text: str) -> str:
    if "\0" in text:
        text = text.replace("\0", UNKEPT)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
