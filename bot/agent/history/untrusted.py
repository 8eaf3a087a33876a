"""Text that others wrote: for the model it is data, and it can forge none of Parley's own marks.

What is not promised here: that a model does not do what such a text says. Whatever it does then,
it does by tools, and those ask. Letters that only look alike (homoglyphs) are not recognised.
"""

from __future__ import annotations

import hashlib
import re

from bot.agent.history.visible import one_line

NAME_LENGTH = 32
MARKS = ("from", "quoted", "note", "remembered", "attached", "image", "file", "endoffile")
"""What follows the bracket with which a line of ours begins, without its blanks."""

# What shows as nothing may stand between two letters of a mark; some of that counts as letters.
_GAP = r"(?:[^\w\[\]]++|[_\u115f\u1160\u3164\uffa0])*+"
_WORDS = "|".join(_GAP.join(word) for word in MARKS)
_MARK = re.compile(rf"\[(?!\[)(?={_GAP}(?:{_WORDS}))", re.IGNORECASE)


def inert(text: str) -> str:
    """Return a text in which nothing reads as a mark of Parley's: such a bracket is escaped."""
    return _MARK.sub(r"\\[", text)


def speaker_name(name: str) -> str:
    """Return somebody's name as the model is told it: nothing in it can look like markup."""
    bare = "".join(" " if char in "[](){}<>:\"'`" else char for char in name)
    return one_line(bare, NAME_LENGTH).strip() or "someone"


def as_data(text: str) -> str:
    """Return a text between two lines that say it is data.

    The lines carry the text's own hash, which nobody can write into it.
    """
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"[data {mark}]\n{text}\n[end of data {mark}]"
