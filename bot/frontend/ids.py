"""Names of sessions, users and messages: Discord's numbers to ours and back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


class PlaceKind(StrEnum):
    """The kinds of places in which a conversation can be."""

    THREAD = "thread"
    CHANNEL = "channel"
    DM = "dm"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversation is; a thread and a DM have a channel id of their own."""

    kind: PlaceKind
    channel_id: int

    @property
    def session_id(self) -> str:
        """The session of this place."""
        return f"{self.kind}-{self.channel_id}"


CLOCKS_DIFFER = timedelta(hours=1)  # at the most, ours and Discord's

_SESSION = re.compile(r"(thread|channel|dm)-([1-9][0-9]{0,19})")
_USER = re.compile(r"user-([1-9][0-9]{0,19})")
_SOURCE = re.compile(r"discord-([1-9][0-9]{0,19})")


def place_of(session_id: str) -> Place | None:
    """Return the place of a session, `None` when it is not one of Discord's."""
    found = _SESSION.fullmatch(session_id)
    return Place(PlaceKind(found[1]), int(found[2])) if found else None


def user_id_of(user: int) -> str:
    """Return our id of a Discord user."""
    return f"user-{user}"


def user_of(user_id: str) -> int | None:
    """Return the Discord user of our id, `None` when it is not one."""
    return _number(_USER, user_id)


def source_id_of(message: int) -> str:
    """Return our name of a Discord message."""
    return f"discord-{message}"


def message_of(source_id: str | None) -> int | None:
    """Return the Discord message of a source id, `None` when it is not one."""
    return _number(_SOURCE, source_id or "")


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.fullmatch(text)
    return int(found[1]) if found else None
