"""What a server's audit log is told of why the bot did something."""

from __future__ import annotations

from bot.agent import ExecutionContext
from bot.frontend.text import one_line

LONGEST = 512  # as the reference says of "X-Audit-Log-Reason"


def reason_of(context: ExecutionContext, reason: str = "") -> str:
    """Return who asked, and why if they said so."""
    asker = f"Asked for by {context.user_id}"
    return one_line(f"{asker}: {reason}" if reason.strip() else asker, LONGEST)
