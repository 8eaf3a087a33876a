"""Turns: which one an event belongs to, and which of them have no end yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    CompactionDoneEvent,
    RecordedEvent,
    ResetEvent,
    ToolResultEvent,
    ToolStartedEvent,
    UserMessageEvent,
    new_id,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurn:
    """A turn that has no end yet: its first event's `seq`, and its undecided approval ids."""

    turn_id: str
    seq: int
    pending: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the turn as JSON values."""
        return {"turn_id": self.turn_id, "seq": self.seq, "pending": list(self.pending)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> OpenTurn:
        """Return the turn that `to_dict` told."""
        return cls(turn_id=data["turn_id"], seq=data["seq"], pending=tuple(data["pending"]))


OpenTurns = tuple[OpenTurn, ...]

NONE_OPEN: OpenTurns = ()


def turns_from(items: Iterable[Mapping[str, Any]]) -> OpenTurns:
    """Return the turns of their JSON values."""
    return tuple([OpenTurn.from_dict(item) for item in items])


def turn_of(event: RecordedEvent, log: Sequence[RecordedEvent], turns: OpenTurns) -> str:
    """Return the turn of an event that is about to be appended, "" where it has none."""
    match event:
        case UserMessageEvent():
            return new_id("turn")
        case ToolStartedEvent() | ToolResultEvent() | ApprovalRequestedEvent():
            return _turn_of_call(event.call_id, log)
        case ApprovalDecidedEvent():
            return _turn_of_approval(event.approval_id, log)
        case ResetEvent() | CompactionDoneEvent():
            return ""
        case AssistantMessageEvent() if not turns:
            return new_id("turn")
        case _:
            return turns[0].turn_id if turns else ""


def _turn_of_call(call_id: str, log: Sequence[RecordedEvent]) -> str:
    for event in reversed(log):
        if isinstance(event, AssistantMessageEvent) and any(
            call.call_id == call_id for call in event.tool_calls
        ):
            return event.turn_id
    return ""


def _turn_of_approval(approval_id: str, log: Sequence[RecordedEvent]) -> str:
    for event in reversed(log):
        if isinstance(event, ApprovalRequestedEvent) and event.approval_id == approval_id:
            return event.turn_id
    return ""


def after(turns: OpenTurns, event: RecordedEvent) -> OpenTurns:
    """Return the open turns once `event` is appended."""
    match event:
        case UserMessageEvent():
            return _opened(turns, event)
        case _ if event.ends_turn:
            return tuple(turn for turn in turns if turn.turn_id != event.turn_id)
        case ApprovalRequestedEvent():
            return tuple(_waiting(turn, event) for turn in turns)
        case ApprovalDecidedEvent():
            return tuple(_decided(turn, event.approval_id) for turn in turns)
        case ResetEvent(undoes=False):
            return ()
        case _:
            return turns


def _opened(turns: OpenTurns, message: UserMessageEvent) -> OpenTurns:
    if any(turn.turn_id == message.turn_id for turn in turns):
        return turns
    return (*turns, OpenTurn(turn_id=message.turn_id, seq=message.seq))


def _waiting(turn: OpenTurn, request: ApprovalRequestedEvent) -> OpenTurn:
    if turn.turn_id != request.turn_id:
        return turn
    return replace(turn, pending=(*turn.pending, request.approval_id))


def _decided(turn: OpenTurn, approval_id: str) -> OpenTurn:
    return replace(turn, pending=tuple(a for a in turn.pending if a != approval_id))
