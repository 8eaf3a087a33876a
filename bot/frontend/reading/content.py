"""What was understood of a file."""

from __future__ import annotations

from dataclasses import dataclass

TEXT = "text/plain"
LONGEST = 100_000  # characters of a file that the model is told


class UnreadableError(Exception):
    """A file tells us nothing; the text says why, after "it was not read: "."""


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it is kept.

    Attributes:
        data: An image, or a text in UTF-8.
        media_type: What it is.
        read: What of the file this is, such as ``the first 20 pages``; empty for all of it.
    """

    data: bytes
    media_type: str
    read: str = ""


def text_content(text: str, read: str = "") -> Content:
    """Return a text, cut where it is too long; `read` tells what is left out already."""
    if len(text) > LONGEST:
        read = f"the first {LONGEST:,} characters"
    return Content(text[:LONGEST].encode(errors="replace"), TEXT, read)
