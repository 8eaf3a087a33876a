"""What to do next: a pure function of the log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from bot.agent.calls import CallState, call_states
from bot.events import ApprovalRequestedEvent, RecordedEvent, StopRequestedEvent
from bot.sessions import Session
from bot.sessions.turns import NONE_OPEN, after


@dataclass(frozen=True, slots=True)
class CallModel:
    """Ask the model: every call of the turn is closed."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class RunTools:
    """Run these: they were free, or are approved."""

    turn_id: str
    calls: Sequence[CallState]


@dataclass(frozen=True, slots=True)
class Settle:
    """Record how these ended: they were started and have no result, or may not start."""

    turn_id: str
    calls: Sequence[CallState]


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for humans to decide these."""

    turn_id: str
    requests: Sequence[ApprovalRequestedEvent]


@dataclass(frozen=True, slots=True)
class Stop:
    """End the turn: somebody asked for that where nobody knew what was shown of it."""

    turn_id: str
    by: str


@dataclass(frozen=True, slots=True)
class Done:
    """Every turn has its end."""


Step = CallModel | RunTools | Settle | Wait | Stop | Done


def next_step(events: Sequence[RecordedEvent]) -> Step:
    """Return the next step of the oldest open turn.

    `events` is a log, or any end of it that begins no later than that turn.
    """
    turn_id = oldest_open_turn(events)
    if turn_id is None:
        return Done()
    turn = [event for event in events if event.turn_id == turn_id]
    if stop := stop_requested(turn):
        return Stop(turn_id, stop.by)
    calls = [state for state in call_states(turn).values() if state.result is None]
    ready = [state for state in calls if state.may_start]
    waiting = [state.request for state in calls if state.waits and state.request]
    stuck = [state for state in calls if not state.may_start and not state.waits]
    if stuck:
        return Settle(turn_id, stuck)
    if ready:
        return RunTools(turn_id, ready)
    if waiting:
        return Wait(turn_id, waiting)
    return CallModel(turn_id)


def stop_requested(turn: Iterable[RecordedEvent]) -> StopRequestedEvent | None:
    """Return who asked first that a turn be ended, or `None`."""
    return next((event for event in turn if isinstance(event, StopRequestedEvent)), None)


def goes_on(session: Session, turn_id: str) -> bool:
    """Return whether a turn is open, and nobody has asked that it be ended."""
    return session.is_open(turn_id) and stop_requested(session.turn(turn_id)) is None


def oldest_open_turn(events: Iterable[RecordedEvent]) -> str | None:
    """Return the id of the oldest turn without an end, or `None`."""
    turns = reduce(after, events, NONE_OPEN)
    return turns[0].turn_id if turns else None
