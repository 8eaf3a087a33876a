"""A conversation as a file: what was said and done, without what only machines exchange."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    CompactionDoneEvent,
    ErasedEvent,
    RecordedEvent,
    ResetEvent,
    ToolResultEvent,
    TurnEndedEvent,
    UserMessageEvent,
    codec,
)
from bot.sessions import SessionStore

PAGE = 500
_UNTOLD = {"extra", "reasoning", "holder", "arguments_hash", "recalled"}
"""Only machines have use for these; what was recalled of somebody is theirs alone."""


class Format(StrEnum):
    """The formats of an export."""

    MARKDOWN = "markdown"
    JSON = "json"


SUFFIX = {Format.MARKDOWN: "md", Format.JSON: "json"}


async def exported(
    store: SessionStore, session_id: str, form: Format, *, limit: int
) -> bytes | None:
    """Return a whole log as a file, `None` if that would be larger than the limit."""
    parts, size = list[bytes](), 0
    async for page in _pages(store, session_id):
        part = await asyncio.to_thread(_part, page, form)
        parts.append(part)
        size += len(part) + 2
        if size > limit:
            return None
    if form is Format.JSON:
        return b"[" + b",\n".join(parts) + b"]\n"
    return b"\n\n".join(parts) + b"\n"


async def _pages(store: SessionStore, session_id: str) -> AsyncIterator[Sequence[RecordedEvent]]:
    page = await store.read_log(session_id, limit=PAGE)
    while page:
        yield page
        page = await store.read_log(session_id, after=page[-1].seq, limit=PAGE)


def _part(events: Sequence[RecordedEvent], form: Format) -> bytes:
    if form is Format.JSON:
        told = (_told(codec.encode(event)) for event in events)
        text = ",\n".join(json.dumps(each, ensure_ascii=False) for each in told)
    else:
        text = "\n\n".join(block for event in events for block in markdown(event))
    return text.encode(errors="replace")


def _told(value: Any) -> Any:
    """Return JSON without what people have no use for."""
    if isinstance(value, Mapping):
        return {key: _told(each) for key, each in value.items() if key not in _UNTOLD}
    return [_told(each) for each in value] if isinstance(value, list) else value


def markdown(event: RecordedEvent) -> Iterator[str]:
    """Give the paragraphs in which an event is told."""
    at = f"{event.at:%Y-%m-%d %H:%M:%S} UTC"
    match event:
        case UserMessageEvent():
            name = event.author.name or event.author.user_id if event.author else "somebody"
            yield f"### {_line(name)}, {at}"
            yield from filter(None, [event.text, *_files(event.attachments)])
            for quote in event.quotes:
                yield f"*{_line(quote.what)}:*\n\n{_quoted(quote.text)}"
        case AssistantMessageEvent():
            yield f"### Assistant, {at}"
            yield from filter(None, [event.text])
            for call in event.tool_calls:
                yield f"*Called {_line(call.tool)}:*\n\n{_quoted(call.arguments)}"
        case ToolResultEvent():
            yield f"*Result ({event.status}):*\n\n{_quoted(event.output)}"
            yield from _files(event.attachments)
        case _:
            yield from (f"*{text}* ({at})" for text in _note(event))


def _note(event: RecordedEvent) -> Iterator[str]:
    match event:
        case ApprovalRequestedEvent():
            yield f"{_line(event.tool)} waits for a decision, asked for by {event.requested_by}."
        case ApprovalDecidedEvent():
            yield f"{event.decision.capitalize()} by {_line(event.by)}."
        case TurnEndedEvent():
            yield f"Ended as {event.outcome}. {_line(event.text)}".strip()
        case ResetEvent():
            what = "took the reset back" if event.undoes else "began the conversation anew"
            yield f"{_line(event.by)} {what}."
        case CompactionDoneEvent(summary=summary) if summary:
            yield f"What is older was summarised: {_line(summary)}"
        case ErasedEvent(was=UserMessageEvent.kind):
            yield "A message that was forgotten."
        case _:
            pass


def _files(attachments: Sequence[Any]) -> Iterator[str]:
    yield from (f"*File: {_line(file.name)}*" for file in attachments)


def _line(text: str) -> str:
    return " ".join(text.split())


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines()) or ">"
