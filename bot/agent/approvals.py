"""Approvals: one request, one decision, and who may take it.

What is not promised here: that a tool does only what its arguments say, or that somebody who may
decide reads them first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.agent.arguments import arguments_hash
from bot.agent.calls import CallState, call_states
from bot.errors import ApprovalDecidedError, ApprovalNotFoundError, ApprovalRefusedError
from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    Decision,
    RecordedEvent,
    ToolResultEvent,
    ToolStatus,
)

EXPIRY = "expiry"
"""Who decides when nobody does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Somebody who would decide, as plain data."""

    user_id: str
    roles: frozenset[str] = frozenset()
    moderator: bool = False
    owner: bool = False


MayDecide = Callable[[ApprovalRequestedEvent, Actor], bool]
Refuses = Callable[[ApprovalRequestedEvent, Actor], ApprovalRefusedError | None]
"""Says why somebody may not decide a request; nothing if they may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an actor wants to become of a request."""

    approval_id: str
    decision: Decision
    actor: Actor
    reason: str = ""
    arguments: Mapping[str, Any] | None = None


def decide(
    state: CallState | None, verdict: Verdict, *, now: datetime, refuses: Refuses
) -> ApprovalDecidedEvent:
    """Return the decision to record: the verdict, or *expired* when it comes too late.

    The one place where it is settled whether a decision counts, for buttons, commands and calls.

    Raises:
        ApprovalNotFoundError: if there is no such request.
        ApprovalDecidedError: if it was decided before.
        ApprovalRefusedError: if this actor may not decide it.
    """
    if state is None or state.request is None:
        raise ApprovalNotFoundError(verdict.approval_id)
    request = state.request
    if state.decision is not None:
        raise decided_error(state.decision)
    withdrawn = (
        verdict.decision is Decision.CANCELLED and verdict.actor.user_id == request.requested_by
    )
    if not withdrawn and (why := refuses(request, verdict.actor)):
        raise why
    if request.expires_at <= now:
        return expired(request)
    return _decided(request, verdict)


def _decided(request: ApprovalRequestedEvent, verdict: Verdict) -> ApprovalDecidedEvent:
    arguments = verdict.arguments
    effective = request.arguments if arguments is None else arguments
    return ApprovalDecidedEvent(
        approval_id=request.approval_id,
        turn_id=request.turn_id,
        decision=verdict.decision,
        by=verdict.actor.user_id,
        reason=verdict.reason,
        arguments_hash=arguments_hash(request.tool, effective),
        arguments=arguments,
    )


def expired(request: ApprovalRequestedEvent) -> ApprovalDecidedEvent:
    """Return the decision of nobody: the time is over."""
    decided = _decided(
        request,
        Verdict(
            approval_id=request.approval_id,
            decision=Decision.EXPIRED,
            actor=Actor(user_id=EXPIRY),
        ),
    )
    return replace(decided, reason="nobody decided in time")


def decided_error(decision: ApprovalDecidedEvent) -> ApprovalDecidedError:
    """Return the error that tells a second decider about the first."""
    return ApprovalDecidedError(decision.by, decision.at, decision.decision.value)


def find_request(events: Sequence[RecordedEvent], approval_id: str) -> CallState | None:
    """Return the call that this approval is about, if `events` have its request."""
    for state in call_states(events).values():
        if state.request is not None and state.request.approval_id == approval_id:
            return state
    return None


def approved_arguments(state: CallState, *, now: datetime) -> Mapping[str, Any] | None:
    """Return the arguments that an approved call may start with, or `None` if it may not.

    They are the request's, or the decider's edit, and their hash is the decision's.
    """
    request, decision = state.request, state.decision
    if request is None or decision is None or decision.decision is not Decision.APPROVED:
        return None
    arguments = request.arguments if decision.arguments is None else decision.arguments
    if request.expires_at <= now or decision.arguments_hash != arguments_hash(
        request.tool, arguments
    ):
        return None
    return arguments


def arguments_to_run(state: CallState, *, now: datetime) -> str | Mapping[str, Any]:
    """Return the arguments of a call that was free or approved: an edit's, also one to none."""
    approved = approved_arguments(state, now=now)
    return state.call.arguments if approved is None else approved


_REFUSALS = {
    Decision.DENIED: (ToolStatus.DENIED, "A human denied this call."),
    Decision.EXPIRED: (ToolStatus.EXPIRED, "Nobody approved this call in time."),
    Decision.CANCELLED: (ToolStatus.CANCELLED, "This call was withdrawn."),
    Decision.APPROVED: (ToolStatus.EXPIRED, "The approval of this call ran out before it began."),
}


def refusal(state: CallState, decision: ApprovalDecidedEvent) -> ToolResultEvent:
    """Return how a call ends that was not approved, as the model is told it."""
    status, text = _REFUSALS[decision.decision]
    if decision.reason:
        text = f"{text} Reason: {decision.reason}"
    if status is ToolStatus.DENIED:
        text = f"{text} Do not ask for the same call again in this turn."
    return ToolResultEvent(
        call_id=state.call.call_id, turn_id=state.turn_id, status=status, output=text
    )
