"""The card of an approval: what is asked, by whom, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.agent.history.visible import one_line
from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    Decision,
    ToolResultEvent,
    ToolStatus,
)
from bot.frontend.ids import user_of
from bot.frontend.text import code, plain
from bot.frontend.view.effective import with_arguments
from bot.frontend.view.shown import Button, Key, Purpose, Shown, approve_id, deny_id

SENTENCE = 500

_ENDINGS = {
    ToolStatus.OK: "It ran and ended well.",
    ToolStatus.ERROR: "It ended with an error.",
    ToolStatus.DENIED: "It did not run.",
    ToolStatus.EXPIRED: "It did not run.",
    ToolStatus.CANCELLED: "It was cancelled.",
    ToolStatus.UNKNOWN: "It was started; what came of it is unknown.",
}

_WORDS = {
    Decision.APPROVED: "Approved",
    Decision.DENIED: "Denied",
    Decision.CANCELLED: "Withdrawn",
}


def card(
    request: ApprovalRequestedEvent,
    decision: ApprovalDecidedEvent | None,
    result: ToolResultEvent | None,
    *,
    turn_closed: bool,
    asked: str | None = None,
) -> Shown:
    """Return the card as it should be seen now."""
    edited = decision.arguments if decision is not None else None
    head = "\n".join(
        [
            _headline(request, decision, turn_closed=turn_closed),
            *([f"> {one_line(request.sentence, SENTENCE)}"] if _says(request, edited) else []),
            *([f"Decided <t:{int(decision.at.timestamp())}:R>."] if decision else []),
            *_ending(decision, result, turn_closed=turn_closed),
        ]
    )
    content, files = with_arguments(head, request.arguments, edited)
    undecided = decision is None and not turn_closed
    return Shown(
        key=Key(request.turn_id, request.approval_id, Purpose.CARD),
        content=content,
        files=files,
        buttons=_buttons(request.approval_id) if undecided else (),
        asked=asked,
        brief=head,
        for_approvers=True,
        final=turn_closed or (decision is not None and result is not None),
    )


def person(user_id: str) -> str:
    """Return somebody's name as Discord shows it; it does not ping."""
    user = user_of(user_id)
    return f"<@{user}>" if user is not None else plain(user_id)


def _headline(
    request: ApprovalRequestedEvent, decision: ApprovalDecidedEvent | None, *, turn_closed: bool
) -> str:
    tool, asker = code(request.tool), person(request.requested_by)
    if decision is not None:
        reason = f": {plain(decision.reason)}" if decision.reason else "."
        edited = " with other arguments" if decision.arguments is not None else ""
        return f"**{_decided(decision)}** {tool}{edited}, asked for by {asker}{reason}"
    if turn_closed:
        return f"**Not decided:** {tool}, asked for by {asker}."
    expires = int(request.expires_at.timestamp())
    return f"**May I run {tool}?** Asked for by {asker}, expires <t:{expires}:R>."


def _decided(decision: ApprovalDecidedEvent) -> str:
    if decision.decision is Decision.EXPIRED:
        return "Expired:"
    return f"{_WORDS[decision.decision]} by {person(decision.by)}:"


def _ending(
    decision: ApprovalDecidedEvent | None, result: ToolResultEvent | None, *, turn_closed: bool
) -> list[str]:
    if result is not None:
        return [_ENDINGS[result.status]]
    if decision is None or decision.decision is not Decision.APPROVED:
        return []
    return ["It has no result."] if turn_closed else ["It runs now."]


def _says(request: ApprovalRequestedEvent, edited: Mapping[str, Any] | None) -> bool:
    """Whether the tool's own sentence is there, and true of what runs."""
    return bool(request.sentence.strip()) and edited is None


def _buttons(approval_id: str) -> tuple[Button, ...]:
    return (
        Button("Approve", approve_id(approval_id), "success"),
        Button("Deny", deny_id(approval_id), "danger"),
        Button("More…", f"more:{approval_id}"),
    )
