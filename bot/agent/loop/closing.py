"""How open turns and calls are closed: what to append so that the log is whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bot.agent.approvals import refusal
from bot.agent.calls import CallState, call_states
from bot.agent.model.growing import Growing
from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    Decision,
    RecordedEvent,
    ToolResultEvent,
    ToolStatus,
    TurnEndedEvent,
)
from bot.sessions import Session

UNKNOWN_TEXT = (
    "This call was started, and what came of it is unknown. It may have taken effect. "
    "Do not repeat it without asking."
)
CANCELLED_TEXT = "This call was not run: the turn ended first."


@dataclass(frozen=True, slots=True)
class Shown:
    """The text of a model call in progress that readers have seen.

    `call` is the number of answers that the turn's log had before it.
    """

    turn_id: str
    call: int
    text: Growing = field(default_factory=Growing)


def end_turn(
    session: Session, end: TurnEndedEvent, *, by: str, shown: Shown | None = None
) -> list[RecordedEvent]:
    """Return what ends a turn: its calls closed, the text that was shown, and `end`.

    Nothing when the turn has its end already.
    """
    if not session.is_open(end.turn_id):
        return []
    events = session.turn(end.turn_id)
    return [*close_calls(events, by=by), *_interrupted(events, shown), end]


def _interrupted(
    events: Sequence[RecordedEvent], shown: Shown | None
) -> Iterator[AssistantMessageEvent]:
    """Give the answer that was cut, unless it is in the log already or of another turn."""
    if shown is None or shown.turn_id != events[0].turn_id or shown.call != answers(events):
        return
    text = str(shown.text)
    if text.strip():
        yield AssistantMessageEvent(turn_id=shown.turn_id, text=text, interrupted=True)


def answers(events: Iterable[RecordedEvent]) -> int:
    """Return how many answers of the model `events` have."""
    return sum(isinstance(event, AssistantMessageEvent) for event in events)


def close_calls(events: Sequence[RecordedEvent], *, by: str) -> Iterator[RecordedEvent]:
    """Give what closes every open call of a turn that goes no further."""
    for state in call_states(events).values():
        if state.result is None:
            if state.request is not None and state.decision is None:
                yield _cancelled(state.request, by)
            yield _unfinished(state)


def settle(state: CallState) -> ToolResultEvent:
    """Return the result that follows from the log alone for a call that cannot go on.

    It was started, by a process that is gone or a run that was stopped; or it was refused.
    """
    if state.started is None and state.decision is not None:
        return refusal(state, state.decision)
    return _unfinished(state)


def _unfinished(state: CallState) -> ToolResultEvent:
    started = state.started is not None
    return ToolResultEvent(
        call_id=state.call.call_id,
        turn_id=state.turn_id,
        status=ToolStatus.UNKNOWN if started else ToolStatus.CANCELLED,
        output=UNKNOWN_TEXT if started else CANCELLED_TEXT,
    )


def _cancelled(request: ApprovalRequestedEvent, by: str) -> ApprovalDecidedEvent:
    return ApprovalDecidedEvent(
        approval_id=request.approval_id,
        turn_id=request.turn_id,
        decision=Decision.CANCELLED,
        by=by,
        arguments_hash=request.arguments_hash,
    )
