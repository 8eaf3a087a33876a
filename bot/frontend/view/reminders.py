"""Reminders of requests that are about to expire: one each, by a rule that needs no clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.events import ApprovalRequestedEvent
from bot.frontend.text import code
from bot.frontend.view.shown import Key, Purpose, Shown

LAST = timedelta(hours=1)
SHORTEST = timedelta(minutes=10)
"""A request that lives less long is not reminded of."""


@dataclass(frozen=True, slots=True)
class Reminder:
    """What is to be shown from one time to another, unless the request has been decided."""

    at: datetime
    until: datetime
    shown: Shown


def reminder(request: ApprovalRequestedEvent) -> Reminder | None:
    """Return the reminder of a request: at half of its last hour, or of all of it if that is less.

    One that lives shortly has none.
    """
    lives = request.expires_at - request.at
    if lives < SHORTEST:
        return None
    at = request.expires_at - min(LAST, lives) / 2
    expires = int(request.expires_at.timestamp())
    text = f"{code(request.tool)} still waits for a decision. It expires <t:{expires}:R>."
    key = Key(request.turn_id, request.approval_id, Purpose.NOTICE, 1)
    return Reminder(at, request.expires_at, Shown(key=key, content=text, for_approvers=True))
