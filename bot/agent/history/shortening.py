"""Texts that are too long for the model, told by their beginning and their end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bot.events import (
    AssistantMessageEvent,
    CompactionDoneEvent,
    RecordedEvent,
    ToolResultEvent,
    UserMessageEvent,
)


@dataclass(frozen=True, slots=True)
class Shortening:
    """What was recorded before the event number `before` is told in at most `to` characters.

    A boundary of the log holds it, so that between boundaries everything is told the same way.
    """

    before: int = 0
    to: int = 0

    @classmethod
    def of(cls, boundary: CompactionDoneEvent | None) -> Shortening:
        """Return what a boundary says."""
        if boundary is None:
            return cls()
        return cls(boundary.shortened_before, boundary.shortened_to)

    def told(self, event: RecordedEvent) -> RecordedEvent:
        """Return an event as the model is told it."""
        if event.seq >= self.before:
            return event
        match event:
            case UserMessageEvent() | AssistantMessageEvent() if len(event.text) > self.to:
                return replace(event, text=shortened(event.text, self.to))
            case ToolResultEvent() if len(event.output) > self.to:
                return replace(event, output=shortened(event.output, self.to))
            case _:
                return event

    def all(self, events: Iterable[RecordedEvent]) -> list[RecordedEvent]:
        """Return events as the model is told them."""
        return [self.told(event) for event in events]


def shortened(text: str, to: int) -> str:
    """Return a text without its middle if it has more than `to` characters; that is told."""
    if len(text) <= to:
        return text
    head, tail = to - to // 3, to // 3
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[... {left_out:,} characters left out ...]\n{text[len(text) - tail :]}"
