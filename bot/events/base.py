"""What events are made of: ids, outcomes, and the values they carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from os import urandom
from typing import Any


def utc_now() -> datetime:
    """Return the current time, aware and in UTC."""
    return datetime.now(UTC)


def new_id(prefix: str) -> str:
    """Return a fresh id such as ``turn-1f0c...`` with 64 random bits."""
    return f"{prefix}-{urandom(8).hex()}"


class RunStatus(StrEnum):
    """How a run ended."""

    COMPLETED = "completed"
    AWAITING_APPROVAL = "awaiting_approval"
    FAILED = "failed"
    STOPPED = "stopped"
    DUPLICATE = "duplicate"  # this message is known: it is answered elsewhere, or was
    HANDED_OVER = "handed_over"  # another run goes on with it, most often another process'


class Decision(StrEnum):
    """What became of an approval request; everything but APPROVED means no."""

    EXPIRED = "expired"
    CANCELLED = "cancelled"
    DENIED = "denied"
    APPROVED = "approved"


class ToolStatus(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"  # it was started, and nobody knows what came of it


class TurnOutcome(StrEnum):
    """How a turn ended that has no final answer."""

    FAILED = "failed"
    STOPPED = "stopped"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


class Ask(StrEnum):
    """What somebody asks for with a button, about the latest turn."""

    RETRY = "retry"  # another answer
    CONTINUE = "continue"  # the rest of an answer that was cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who wrote a message. `name` is for the model's eyes and may be empty."""

    user_id: str
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a message, or from a tool; its bytes are a blob of the store."""

    sha256: str
    media_type: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Something that came with a message and that its author did not write.

    Attributes:
        what: Says what it is, on one line, for example ``forwarded message``.
        text: What it says.
        author_id: The user who wrote it; empty: nobody, or nobody knows.
    """

    what: str
    text: str
    author_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """Something remembered about who wrote a message, told to the model beside it."""

    memory_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What people are told, in a quiet line, of something that a tool did without asking.

    Attributes:
        text: Plain text, on one line.
        undo: Names what a button undoes, such as ``memory-1f0c...``; empty: there is no button.
    """

    text: str
    undo: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call the model asked for.

    `arguments` is the JSON text as the model wrote it. `extra` holds what the service sent beside
    it, its own call id under ``id`` first of all, and is sent back unchanged.
    """

    call_id: str
    tool: str
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call, as the service reported them; `None` where it did not."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None

    def __add__(self, other: Usage) -> Usage:
        """Add two reports; what neither told stays untold."""
        return Usage(
            input_tokens=_sum(self.input_tokens, other.input_tokens),
            output_tokens=_sum(self.output_tokens, other.output_tokens),
            cached_tokens=_sum(self.cached_tokens, other.cached_tokens),
        )


def _sum(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a turn."""

    turn_id: str = ""
    at: datetime = field(default_factory=utc_now)
