"""Recorded events: the log of a session, and the only truth about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar

from bot.events.base import (
    Ask,
    Attachment,
    Author,
    Decision,
    Event,
    Quote,
    Recalled,
    Receipt,
    ToolCall,
    ToolStatus,
    TurnOutcome,
    Usage,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEvent(Event):
    """An event of the log. `seq` is 0 until it is appended to a session."""

    kind: ClassVar[str]
    seq: int = 0

    @property
    def natural_key(self) -> str | None:
        """What may exist only once in a whole store, or `None`."""
        return None

    @property
    def ends_turn(self) -> bool:
        """Whether its turn is over with it; a reset ends all, whichever they are."""
        return False

    def placed(self, seq: int, turn_id: str) -> RecordedEvent:
        """Return this event with its place in the log."""
        return replace(self, seq=seq, turn_id=turn_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessageEvent(RecordedEvent):
    """Somebody wrote; starts a turn unless `turn_id` says it belongs to one.

    `source_id` names the message where it came from, for example ``discord-1234``. `notes` are
    sentences on what of it could not be read, for its author and for the model. One without a
    `source_id` may be a button's: what it `asks`, and `about` which turn. `recalled` is what was
    remembered of its author when it was recorded.
    """

    kind: ClassVar[str] = "user_message"
    text: str
    author: Author | None = None
    attachments: tuple[Attachment, ...] = ()
    source_id: str | None = None
    quotes: tuple[Quote, ...] = ()
    notes: tuple[str, ...] = ()
    asks: Ask | None = None
    about: str = ""
    recalled: tuple[Recalled, ...] = ()

    @property
    def natural_key(self) -> str | None:
        """One copy of a message in a store, and one that asks again about a turn."""
        if self.source_id:
            return f"source:{self.source_id}"
        return f"again:{self.about}" if self.about else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessageEvent(RecordedEvent):
    """The model answered; without `tool_calls`, and not interrupted, it ends its turn.

    `extra` is the service's opaque JSON, sent back unchanged to the same `model`; `reasoning` is
    the beginning of what it showed of that, for people only.
    """

    kind: ClassVar[str] = "assistant_message"
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    interrupted: bool = False
    model: str = ""
    finish_reason: str = ""
    reasoning: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ends_turn(self) -> bool:
        """The final answer does."""
        return not self.tool_calls and not self.interrupted


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequestedEvent(RecordedEvent):
    """A call waits for a human.

    `arguments` are validated: they are what would run; `sentence` says of them, in the tool's own
    words, what that does.
    """

    kind: ClassVar[str] = "approval_requested"
    approval_id: str
    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    arguments_hash: str
    requested_by: str
    expires_at: datetime
    sentence: str = ""

    @property
    def natural_key(self) -> str:
        """One request of an id in a store."""
        return f"request:{self.approval_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalDecidedEvent(RecordedEvent):
    """The one decision on a request; `arguments` are there when the decider edited them."""

    kind: ClassVar[str] = "approval_decided"
    approval_id: str
    decision: Decision
    by: str
    reason: str = ""
    arguments_hash: str = ""
    arguments: Mapping[str, Any] | None = None

    @property
    def natural_key(self) -> str:
        """One decision of a request in a store."""
        return f"decision:{self.approval_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStartedEvent(RecordedEvent):
    """A call is about to run in the process that `holder` names.

    `grant` names the standing yes, if it was one that let it run unasked.
    """

    kind: ClassVar[str] = "tool_started"
    call_id: str
    holder: str
    grant: str = ""

    @property
    def natural_key(self) -> str:
        """One start of a call in a store."""
        return f"start:{self.call_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultEvent(RecordedEvent):
    """A call is closed; `output` is what the model is told.

    `attachments` and `receipt` are what people are shown.
    """

    kind: ClassVar[str] = "tool_result"
    call_id: str
    status: ToolStatus
    output: str
    attachments: tuple[Attachment, ...] = ()
    receipt: Receipt | None = None

    @property
    def natural_key(self) -> str:
        """One result of a call in a store."""
        return f"result:{self.call_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRequestedEvent(RecordedEvent):
    """A turn that another process runs is to end: that one knows what was shown of its answer."""

    kind: ClassVar[str] = "stop_requested"
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEndedEvent(RecordedEvent):
    """A turn ended without a final answer; `text` is what people are told."""

    kind: ClassVar[str] = "turn_ended"
    outcome: TurnOutcome
    code: str = ""
    text: str = ""
    reference: str = ""

    @property
    def ends_turn(self) -> bool:
        """It does."""
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResumedEvent(RecordedEvent):
    """A turn that an ended process left open is continued, for the `attempt`-th time."""

    kind: ClassVar[str] = "turn_resumed"
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionDoneEvent(RecordedEvent):
    """What lies before the event number `window_from` is now told by `summary`.

    Attributes:
        usage: What the summary cost.
        model: Who wrote it.
        messages: How many messages of people it tells that were told in full before.
        covered: Turns that it tells though a part of them lies in the window.
        shortened_before: Texts of events before this number are told in at most `shortened_to`
            characters each (0: in full).
    """

    kind: ClassVar[str] = "compaction_done"
    summary: str
    window_from: int
    usage: Usage | None = None
    model: str = ""
    messages: int = 0
    covered: tuple[str, ...] = ()
    shortened_before: int = 0
    shortened_to: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetEvent(RecordedEvent):
    """The conversation starts anew at event number `window_from` (0: at this event).

    One that begins before itself undoes the boundary before it, and ends no turn. `window_before`
    is where the window began until then, 0 where that is not known.
    """

    kind: ClassVar[str] = "reset"
    by: str
    window_from: int = 0
    window_before: int = 0

    @property
    def undoes(self) -> bool:
        """Whether it takes a reset back."""
        return self.window_from < self.seq

    def placed(self, seq: int, turn_id: str) -> ResetEvent:
        """Return this event with its place; without a `window_from` the window begins here."""
        return replace(self, seq=seq, turn_id=turn_id, window_from=self.window_from or seq)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedEvent(RecordedEvent):
    """An event whose content was forgotten; `was` is what kind it had."""

    kind: ClassVar[str] = "erased"
    was: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownEvent(RecordedEvent):
    """An event of a newer version, kept as it was read."""

    kind: ClassVar[str] = "unknown"
    body: Mapping[str, Any]
