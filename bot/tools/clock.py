"""What time it is."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from bot.agent import tool
from bot.errors import ToolError


@tool(idempotent=True)
def current_time(timezone: str = "UTC") -> str:
    """Tell the current date and time.

    Args:
        timezone: A name such as Europe/Paris.
    """
    try:
        zone = UTC if timezone.upper() == "UTC" else ZoneInfo(timezone)
    except (KeyError, ValueError, OSError) as exc:
        raise ToolError(f"There is no time zone {timezone!r}.") from exc
    return f"{datetime.now(zone):%A, %d %B %Y, %H:%M} {timezone}"
