"""What erasing makes of events, whichever store keeps them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.events import (
    Attachment,
    CompactionDoneEvent,
    ErasedEvent,
    Quote,
    RecordedEvent,
    ToolResultEvent,
    UserMessageEvent,
)
from bot.sessions.session import Session

FORGOTTEN = Quote(what="a message that was forgotten", text="")
"""What is left of what was quoted."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """What is to be put in the place of which events, and what they were.

    Attributes:
        instead: The events that take the places of those of the same numbers.
        authors: How many of the erased messages each author wrote.
        blobs: The bytes that the erased events referred to, and when they did last.
    """

    instead: Sequence[RecordedEvent]
    authors: Mapping[str, int]
    blobs: Mapping[str, datetime]


def erasure(events: Iterable[RecordedEvent], turn_ids: Collection[str] | None) -> Erasure:
    """Return how to erase some turns of a whole log, or all of them.

    Summaries that may cover them lose their text.
    """
    instead: list[RecordedEvent] = []
    gone: list[RecordedEvent] = []
    for event in events:
        if isinstance(event, CompactionDoneEvent):
            if gone and event.window_from > gone[0].seq and event.summary:
                instead.append(replace(event, summary=""))
        elif _is_of(event, turn_ids) and not isinstance(event, ErasedEvent):
            gone.append(event)
            instead.append(erased(event))
    return Erasure(instead, written_by(gone), _referred_to(gone))


def unquoted(events: Iterable[RecordedEvent], user_id: str) -> Sequence[RecordedEvent]:
    """Return what takes the places of events that quote somebody; summaries as in `erasure`."""
    instead: list[RecordedEvent] = []
    for event in events:
        if isinstance(event, CompactionDoneEvent):
            if instead and event.window_from > instead[0].seq and event.summary:
                instead.append(replace(event, summary=""))
        elif user_id in quoted_by(event):
            instead.append(_without(event, user_id))
    return instead


def quoted_by(event: RecordedEvent) -> Sequence[str]:
    """Return whom a message quotes."""
    quotes = event.quotes if isinstance(event, UserMessageEvent) else ()
    return [quote.author_id for quote in quotes if quote.author_id]


def erased(event: RecordedEvent) -> ErasedEvent:
    """Return what is left of an event."""
    return ErasedEvent(seq=event.seq, turn_id=event.turn_id, at=event.at, was=event.kind)


def check_closed(session: Session, turn_ids: Collection[str] | None) -> None:
    """Refuse to erase a turn that has no end yet.

    Raises:
        ValueError: if so.
    """
    if any(turn_ids is None or turn.turn_id in turn_ids for turn in session.open_turns):
        raise ValueError("a turn that is open cannot be erased")


def written_by(events: Iterable[RecordedEvent]) -> Mapping[str, int]:
    """Return how many messages each author wrote."""
    messages = (event for event in events if isinstance(event, UserMessageEvent))
    return Counter(message.author.user_id for message in messages if message.author)


def files_of(event: RecordedEvent) -> Sequence[Attachment]:
    """Return the files that an event refers to."""
    return event.attachments if isinstance(event, UserMessageEvent | ToolResultEvent) else ()


def _without(event: RecordedEvent, user_id: str) -> RecordedEvent:
    assert isinstance(event, UserMessageEvent)  # noqa: S101 - no others quote
    quotes = (FORGOTTEN if each.author_id == user_id else each for each in event.quotes)
    return replace(event, quotes=tuple(quotes))


def _is_of(event: RecordedEvent, turn_ids: Collection[str] | None) -> bool:
    return bool(event.turn_id) and (turn_ids is None or event.turn_id in turn_ids)


def _referred_to(events: Iterable[RecordedEvent]) -> Mapping[str, datetime]:
    return {file.sha256: event.at for event in events for file in files_of(event)}
