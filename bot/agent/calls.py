"""The tool calls of a turn, and how far each has come; read from the log alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    Decision,
    RecordedEvent,
    ToolCall,
    ToolResultEvent,
    ToolStartedEvent,
)


@dataclass(slots=True)
class CallState:
    """One call, with every event about it."""

    turn_id: str
    call: ToolCall
    request: ApprovalRequestedEvent | None = None
    decision: ApprovalDecidedEvent | None = None
    started: ToolStartedEvent | None = None
    result: ToolResultEvent | None = None

    @property
    def waits(self) -> bool:
        """Whether a human is asked and has not answered."""
        return self.request is not None and self.decision is None and self.result is None

    @property
    def was_denied(self) -> bool:
        """Whether a human said no."""
        return self.decision is not None and self.decision.decision is Decision.DENIED

    @property
    def may_start(self) -> bool:
        """Whether it was free, or is approved, and has neither begun nor ended."""
        approved = self.decision is not None and self.decision.decision is Decision.APPROVED
        fresh = self.started is None and self.result is None
        return fresh and (self.request is None or approved)


def call_states(events: Iterable[RecordedEvent]) -> dict[str, CallState]:
    """Return the calls in `events` by call id, in the order the model made them."""
    states: dict[str, CallState] = {}
    by_approval: dict[str, CallState] = {}
    for event in events:
        match event:
            case AssistantMessageEvent():
                for call in event.tool_calls:
                    states[call.call_id] = CallState(event.turn_id, call)
            case ApprovalRequestedEvent() if event.call_id in states:
                by_approval[event.approval_id] = state = states[event.call_id]
                state.request = event
            case ApprovalDecidedEvent() if event.approval_id in by_approval:
                by_approval[event.approval_id].decision = event
            case ToolStartedEvent() if event.call_id in states:
                states[event.call_id].started = event
            case ToolResultEvent() if event.call_id in states:
                states[event.call_id].result = event
            case _:
                pass
    return states
