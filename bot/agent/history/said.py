"""What somebody said, as the model is told it.

What we say ourselves stands in lines that begin with a mark, such as ``[from NAME (ID)]``. Marks
in what others wrote are escaped, so that nobody can speak for somebody else, or for us.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from bot.agent.history.untrusted import inert, speaker_name
from bot.agent.history.visible import one_line
from bot.events import Attachment, Quote, RecordedEvent, UserMessageEvent

Part = dict[str, Any]

BLOB = "blob"
"""The type of a content part that names a file; `Attachments` puts what it holds in its place."""

_LONGEST_NAME = 100


def content(event: UserMessageEvent, shows: Callable[[Attachment], bool]) -> str | list[Part]:
    """Return the content of a message: a text, or parts where there are files to show."""
    named = [attached(each) for each in event.attachments if not shows(each)]
    text = "\n".join(filter(None, (*_lines(event), *named)))
    files = [_blob(each) for each in event.attachments if shows(each)]
    return [*([text_part(text)] if text else []), *files] if files else text


def attached(file: Attachment) -> str:
    """Return the line that names a file without what it holds."""
    return f"[attached: {safe_name(file.name)} ({safe_name(file.media_type)})]"


def safe_name(name: str) -> str:
    """Return a name that can stand within a line of ours."""
    bare = "".join(each for each in name if each not in "[]")
    return one_line(bare, _LONGEST_NAME).strip() or "unnamed"


def text_part(text: str) -> Part:
    """Return a text as a part of a message's content."""
    return {"type": "text", "text": text}


def brings_images(turn: Iterable[RecordedEvent]) -> bool:
    """Whether somebody sent an image in this turn."""
    said = (event for event in turn if isinstance(event, UserMessageEvent))
    return any(is_image(file) for event in said for file in event.attachments)


def is_image(file: Attachment) -> bool:
    """Whether a file was taken for an image."""
    return file.media_type.startswith("image/")


def _lines(event: UserMessageEvent) -> Iterable[str]:
    if event.author and event.author.name:
        yield f"[from {speaker_name(event.author.name)} ({event.author.user_id})]"
    yield inert(event.text)
    yield from map(_quoted, event.quotes)
    yield from (f"[note: {safe_text(note)}]" for note in event.notes)
    whom = f" about {speaker_name(event.author.name)}" if event.author and event.author.name else ""
    yield from (f"[remembered{whom}: {safe_text(each.text)}]" for each in event.recalled)


def _quoted(quote: Quote) -> str:
    lines = "".join(f"\n> {line}" for line in inert(quote.text).splitlines())
    return f"[quoted: {safe_name(quote.what)}]{lines}"


def safe_text(text: str) -> str:
    """Return a text of any length that can stand within a line of ours."""
    return " ".join(text.replace("[", "(").replace("]", ")").split())


def _blob(file: Attachment) -> Part:
    return {
        "type": BLOB,
        "sha256": file.sha256,
        "media_type": file.media_type,
        "name": file.name,
    }
