"""What a file tells of a conversation, whichever format it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.events import RecordedEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One message of the Chat Completions API, or what stands for one.

    Attributes:
        where: Names it in errors, for example ``message 3``.
        message: As the file has it.
        at: When it was written, where that is known.
        boundary: Whether the model was not told any more of what lies before it.
    """

    where: str
    message: Mapping[str, Any]
    at: datetime | None = None
    boundary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation to be taken in.

    Attributes:
        user_id: Whose it was, where that is known.
        state: Its state.
        created_at: When it began, where that is known.
        events: Its log; what is open in it is closed when it is taken in.
        files: The bytes that the events refer to.
        left_out: What of the file is not in the events, as words for people.
    """

    user_id: str | None = None
    state: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    events: Sequence[RecordedEvent] = ()
    files: Sequence[bytes] = ()
    left_out: Sequence[str] = ()
