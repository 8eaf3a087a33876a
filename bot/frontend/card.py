"""The card of an approval: what is asked, by whom, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.agent.visible import visible_json
from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    Decision,
    ToolResultEvent,
    ToolStatus,
)
from bot.frontend.ids import user_of
from bot.frontend.markdown import LIMIT
from bot.frontend.shown import Button, File, Key, Purpose, Shown, approve_id, deny_id
from bot.frontend.text import code, plain

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
    arguments = request.arguments
    if decision is not None and decision.arguments is not None:
        arguments = decision.arguments
    lines = [
        _headline(request, decision, turn_closed=turn_closed),
        *_ending(decision, result, turn_closed=turn_closed),
    ]
    content, files = _with_arguments("\n".join(lines), arguments)
    undecided = decision is None and not turn_closed
    return Shown(
        key=Key(request.turn_id, request.approval_id, Purpose.CARD),
        content=content,
        files=files,
        buttons=_buttons(request.approval_id) if undecided else (),
        asked=asked,
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
        return f"**{_decided(decision)}** {tool}, asked for by {asker}{reason}"
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


def _with_arguments(head: str, arguments: Mapping[str, Any]) -> tuple[str, tuple[File, ...]]:
    text = visible_json(dict(arguments), without="`")  # which could end the block
    content = f"{head}\n```json\n{text}\n```"
    if len(content) <= LIMIT:
        return content, ()
    file = File("arguments.json", text)
    return f"{head}\nThe arguments are attached in full.", (file,)


def _buttons(approval_id: str) -> tuple[Button, ...]:
    return (
        Button("Approve", approve_id(approval_id), "success"),
        Button("Deny", deny_id(approval_id), "danger"),
    )
