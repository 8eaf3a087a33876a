"""Live events: streamed while a turn runs, never stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.events.base import Event, RunStatus, Usage
from bot.events.recorded import ApprovalRequestedEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChunkEvent(Event):
    """A piece of the answer, as it comes."""

    chunk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningChunkEvent(Event):
    """A piece of the model's reasoning, where the service shows it."""

    chunk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimitEvent(Event):
    """The service asked to wait; the call is tried again in `retry_after` seconds."""

    retry_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgressEvent(Event):
    """What a running tool tells of its progress; `text` is one line."""

    call_id: str
    tool: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent(Event):
    """The turn failed; `message` can be shown to people, `reference` is in the log too."""

    message: str
    code: str
    recoverable: bool = False
    reference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneEvent(Event):
    """The run is over: the last event of every run."""

    session_id: str
    final_text: str = ""
    status: RunStatus = RunStatus.COMPLETED
    usage: Usage | None = None
    pending: Sequence[ApprovalRequestedEvent] = ()
