"""How a run ended, read from the log."""

from __future__ import annotations

from collections.abc import Sequence

from bot.agent.calls import call_states
from bot.events import (
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    DoneEvent,
    RecordedEvent,
    RunStatus,
    TurnEndedEvent,
    TurnOutcome,
    Usage,
)
from bot.sessions import Session


def done_event(
    session: Session, turn_id: str, *, mine: bool, seen: Sequence[RecordedEvent] = ()
) -> DoneEvent:
    """Return the last event of a run that answered turn `turn_id` last.

    A run that is not just for that turn (`mine`) awaits approval whenever its session does. What
    it has `seen` of the turn tells where a reset has taken that out of the window.
    """
    turn = session.turn(turn_id) or seen
    is_open = session.is_open(turn_id)
    if session.waits and (is_open or not mine):
        status, text = RunStatus.AWAITING_APPROVAL, ""
    elif is_open:
        status, text = RunStatus.HANDED_OVER, ""
    elif not turn_id:
        status, text = RunStatus.COMPLETED, ""
    else:
        status, text = _ending(turn)
    return DoneEvent(
        turn_id=turn_id,
        session_id=session.session_id,
        final_text=text,
        status=status,
        usage=_usage(turn),
        pending=pending(session) if status is RunStatus.AWAITING_APPROVAL else (),
    )


def pending(session: Session) -> list[ApprovalRequestedEvent]:
    """Return the requests that wait for a human, oldest first."""
    states = call_states(session.unfinished()).values()
    return [state.request for state in states if state.waits and state.request is not None]


def _ending(turn: Sequence[RecordedEvent]) -> tuple[RunStatus, str]:
    for event in reversed(turn):
        match event:
            case TurnEndedEvent(outcome=TurnOutcome.FAILED):
                return RunStatus.FAILED, ""
            case AssistantMessageEvent(tool_calls=(), interrupted=False, text=text):
                return RunStatus.COMPLETED, text
            case _:
                pass
    return RunStatus.STOPPED, ""


def _usage(turn: Sequence[RecordedEvent]) -> Usage | None:
    total = None
    for event in turn:
        if isinstance(event, AssistantMessageEvent) and event.usage is not None:
            total = event.usage if total is None else total + event.usage
    return total
