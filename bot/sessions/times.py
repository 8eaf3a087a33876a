"""Times as they are stored."""

from __future__ import annotations

from datetime import UTC, datetime

EVER = datetime(1, 1, 1, tzinfo=UTC)
"""Before anything that was stored."""


def stored_time(at: datetime) -> str:
    """Return a time as it is stored, so that texts are in the order of times."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")
