"""What is kept in memory of sessions, and the bytes that they refer to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.events import RecordedEvent, UserMessageEvent, utc_now
from bot.sessions.erasing import files_of
from bot.sessions.session import Session
from bot.sessions.store import SessionInfo
from bot.sessions.turns import OpenTurns


@dataclass(slots=True, kw_only=True)
class StoredSession:
    """A session as it was last saved, with its whole log."""

    session_id: str
    user_id: str | None
    created_at: datetime
    updated_at: datetime
    state: str = "{}"
    version: int = 0
    window_from: int = 1
    open_turns: OpenTurns = ()
    holder: str | None = None
    erasures: int = 0
    log: list[RecordedEvent] = field(default_factory=list)

    def take(self, session: Session, state: str) -> None:
        """Become what a session is now."""
        self.state = state
        self.updated_at = session.updated_at
        self.version += 1
        self.window_from = session.window_from
        self.open_turns = session.open_turns
        self.log.extend(session.unsaved)

    def restored(self) -> Session:
        """Return the session, as a copy."""
        return Session.restored(
            self.session_id,
            self.user_id,
            state=self.state,
            created_at=self.created_at,
            updated_at=self.updated_at,
            version=self.version,
            window_from=self.window_from,
            last_seq=len(self.log),
            open_turns=self.open_turns,
            events=self.log[self.window_from - 1 :],
            erasures=self.erasures,
        )

    @property
    def info(self) -> SessionInfo:
        """It without its events."""
        return SessionInfo(
            session_id=self.session_id,
            user_id=self.user_id,
            created_at=self.created_at,
            updated_at=self.updated_at,
            last_seq=len(self.log),
        )

    def messages_of(self, user_id: str) -> Sequence[UserMessageEvent]:
        """Return what somebody wrote."""
        messages = (event for event in self.log if isinstance(event, UserMessageEvent))
        return [each for each in messages if each.author and each.author.user_id == user_id]


class StoredBlobs:
    """Bytes under their SHA-256, each once."""

    def __init__(self) -> None:
        self._blobs: dict[str, tuple[bytes, datetime]] = {}

    def put(self, data: bytes) -> str:
        """Keep bytes; return their SHA-256 in hexadecimal."""
        sha256 = hashlib.sha256(data).hexdigest()
        self._blobs[sha256] = data, utc_now()
        return sha256

    def get(self, sha256: str) -> bytes | None:
        """Return bytes, or `None`."""
        return self._blobs[sha256][0] if sha256 in self._blobs else None

    def drop_all(self, sessions: Iterable[StoredSession], before: datetime) -> None:
        """Forget all bytes handed in before a time to which no session refers."""
        self.drop(sessions, dict.fromkeys(self._blobs, before))

    def drop(self, sessions: Iterable[StoredSession], blobs: Mapping[str, datetime]) -> None:
        """Forget bytes to which no session refers, and that were not handed in after a time."""
        used = {file.sha256 for each in sessions for event in each.log for file in files_of(event)}
        for sha256, until in blobs.items():
            _, put_at = self._blobs.get(sha256, (b"", utc_now()))
            if sha256 not in used and put_at <= until:
                self._blobs.pop(sha256, None)
