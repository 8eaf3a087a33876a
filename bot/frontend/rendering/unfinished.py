"""A message of which the text is still being written."""

from __future__ import annotations

from bot.frontend.rendering.document import Document
from bot.frontend.rendering.grammar import DENSE, marks, open_markers, scan
from bot.frontend.rendering.inline import Prose

MORE = "…"


def unfinished(message: str, limit: int) -> str:
    """Return a message with its open styles closed, and the sign that more comes.

    What does not fit is left away.
    """
    document = Document(message)
    leaf = document.leaves[-1] if document.leaves else None
    if leaf is None or leaf.kind not in {"prose", "heading"}:
        return _first(limit, f"{message}\n{MORE}", message)
    closed = message + _closers(Prose(document, leaf).content)
    return _first(limit, f"{closed} {MORE}", closed, message)


def _first(limit: int, *messages: str) -> str:
    return next((each for each in messages if len(each) <= limit), messages[-1])


def _closers(text: str) -> str:
    """Return what closes the styles that are open at the end of a paragraph, if anything does."""
    if marks(text) > DENSE:
        return ""
    closers = "".join(reversed(list(open_markers(scan(text), text))))
    if not closers or any(open_markers(scan(text + closers), text + closers)):
        return ""
    return closers
