"""A session: one conversation, as an append-only log with a little bookkeeping."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from bot.errors import StateError
from bot.events import CompactionDoneEvent, RecordedEvent, ResetEvent, codec, utc_now
from bot.sessions.state import State
from bot.sessions.turns import OpenTurns, after, turn_of, turns_from

MAX_ID_LENGTH = 255


def check_session_id(session_id: str) -> str:
    """Return the id if it is one: 1 to 255 printable characters.

    Raises:
        ValueError: if it is empty, too long, or has control characters or spaces at its ends.
    """
    if not isinstance(session_id, str) or not session_id:
        raise ValueError("a session id is a non-empty string")
    if len(session_id) > MAX_ID_LENGTH:
        raise ValueError(f"a session id has at most {MAX_ID_LENGTH} characters")
    if not session_id.isprintable() or session_id != session_id.strip():
        raise ValueError(f"a session id is printable, without outer spaces: {session_id!r}")
    return session_id


class Session:
    """One conversation. `append` is the one way to add to its log.

    Attributes:
        session_id: Names the session in its store.
        user_id: Whose session it is, where it is somebody's.
        state: JSON values that survive a reset; a mapping that is assigned is copied.
        created_at: When it was made, UTC.
        updated_at: When it was last appended to, UTC.
        version: How often it was stored, 0 for never; a store refuses a save that is behind.
        open_turns: The turns without an end, oldest first.
        window_from: The `seq` at which the model's view begins.
        last_seq: The `seq` of the newest event, 0 when there is none.
        erasures: How often content of its log was erased; who keeps copies tells old ones by it.
    """

    def __init__(
        self,
        session_id: str,
        user_id: str | None = None,
        *,
        state: Mapping[str, Any] | None = None,
        created_at: datetime | None = None,
    ) -> None:
        self.session_id = check_session_id(session_id)
        self.user_id = user_id
        self._state = State(state)
        self.created_at = created_at or utc_now()
        self.updated_at = self.created_at
        self.version = 0
        self.open_turns: OpenTurns = ()
        self.window_from = 1
        self.last_seq = 0
        self.erasures = 0
        self._events: list[RecordedEvent] = []
        self._length = 0  # how many of them are ours: a draft may have added to the same list
        self._unsaved: list[RecordedEvent] = []
        self._stored_state = ""
        self._is_draft = False

    def __repr__(self) -> str:
        return f"<Session {self.session_id!r} last_seq={self.last_seq} version={self.version}>"

    # -- reading -----------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """JSON values that survive a reset."""
        return self._state

    @state.setter
    def state(self, values: Mapping[str, Any]) -> None:
        self._state = State(values)

    @property
    def events(self) -> Sequence[RecordedEvent]:
        """The window: the events that the model may still see, oldest first."""
        return tuple(self._events[: self._length])

    @property
    def unsaved(self) -> Sequence[RecordedEvent]:
        """The events that no save has stored yet, in the window or not."""
        return tuple(self._unsaved)

    def since(self, seq: int) -> Sequence[RecordedEvent]:
        """Return the window's events from number `seq` on; costs O(what it returns)."""
        if not self._length:
            return ()
        return self._events[max(0, seq - self._events[0].seq) : self._length]

    @property
    def waits(self) -> bool:
        """Whether the oldest open turn has undecided approval requests."""
        return bool(self.open_turns and self.open_turns[0].pending)

    def unfinished(self) -> Sequence[RecordedEvent]:
        """Return the events from the start of the oldest open turn on."""
        return self.since(self.open_turns[0].seq) if self.open_turns else ()

    def is_open(self, turn_id: str) -> bool:
        """Return whether a turn has no end yet."""
        return any(turn.turn_id == turn_id for turn in self.open_turns)

    def turn(self, turn_id: str) -> Sequence[RecordedEvent]:
        """Return the window's events of one turn; costs O(what came since it began)."""
        start = next((t.seq for t in self.open_turns if t.turn_id == turn_id), 0)
        return [event for event in self.since(start) if event.turn_id == turn_id]

    # -- appending ---------------------------------------------------------------------------------

    def append(self, *events: RecordedEvent) -> Sequence[RecordedEvent]:
        """Add events to the log; return them with their `seq` and `turn_id`.

        A user message starts a turn. An event with a call or approval id takes that call's turn.
        Any other takes the oldest open turn. A `turn_id` that is set already is kept.
        """
        return [self._append(event) for event in events]

    def _append(self, event: RecordedEvent) -> RecordedEvent:
        del self._events[self._length :]  # of a draft that came to nothing
        turn_id = event.turn_id or turn_of(event, self._events, self.open_turns)
        placed = event.placed(self.last_seq + 1, turn_id)
        self._events.append(placed)
        self._length += 1
        self._unsaved.append(placed)
        self.last_seq = placed.seq
        self.updated_at = placed.at
        self.open_turns = after(self.open_turns, placed)
        if isinstance(placed, ResetEvent | CompactionDoneEvent):
            self.window_from = placed.window_from
            self._events = list(self.since(placed.window_from))
            self._length = len(self._events)
        return placed

    # -- drafts ------------------------------------------------------------------------------------

    def draft(self) -> Session:
        """Return a copy to append to and save, so that this one shows nothing unsaved.

        It costs O(1): the events are shared. There is one draft at a time, and either this session
        becomes it or it is dropped.
        """
        draft = copy.copy(self)
        draft._unsaved = list(self._unsaved)
        draft._is_draft = True
        return draft

    def become(self, draft: Session) -> None:
        """Take over a draft that was saved."""
        vars(self).update(vars(draft), _state=self._state, _is_draft=False)

    @property
    def is_short(self) -> bool:
        """Whether the window reaches back to events that have to be read from the store."""
        return bool(self._length) and self._events[0].seq > self.window_from

    # -- for stores --------------------------------------------------------------------------------

    def changed(self, state: str) -> bool:
        """Return whether a save would store anything; `state` is the state's JSON text now."""
        return bool(self._unsaved) or state != self._stored_state

    def mark_saved(self, *, seq: int, version: int, state: str | None = None) -> None:
        """Note that everything up to number `seq` is stored, as that version, with that state."""
        self._unsaved = [event for event in self._unsaved if event.seq > seq]
        self.version = version
        if state is not None:
            self._stored_state = state

    def state_json(self) -> str:
        """Return the state's JSON text.

        In a draft a value that is not JSON is left as it was stored: it may be a tool's that is
        still at work, and keeps nobody else from being heard.

        Raises:
            StateError: if a value is not JSON.
        """
        try:
            return self._state.to_json()
        except StateError:
            if not self._is_draft:
                raise
            return self._state.mended(self._stored_state).to_json()

    def mend_state(self) -> None:
        """Put back what was stored in place of values that are not JSON.

        Raises:
            StateError: naming the first of them, after all were put back.
        """
        try:
            self._state.to_json()
        except StateError:
            self._state.replace(self._state.mended(self._stored_state))
            raise

    def take_state(self, other: Session) -> None:
        """Take over what was changed in another object's state since that was read."""
        if other is not self:
            changed = State.from_json(other._stored_state or "{}")
            changed.replace(other.state)
            changed.rebase(other._stored_state, self._state)
            self._state.replace(changed)

    def adopt(self, stored: Session) -> None:
        """Become what a store holds, in place; of the state, keep what was changed here since."""
        self._state.rebase(self._stored_state, stored.state)
        self._stored_state = stored._stored_state
        self.user_id, self.created_at = stored.user_id, stored.created_at
        self.updated_at, self.version = stored.updated_at, stored.version
        self.open_turns, self.window_from = stored.open_turns, stored.window_from
        self.last_seq, self.erasures = stored.last_seq, stored.erasures
        self._events, self._length = stored._events, stored._length
        self._unsaved = []

    @classmethod
    def restored(
        cls,
        session_id: str,
        user_id: str | None,
        *,
        state: str,
        created_at: datetime,
        updated_at: datetime,
        version: int,
        window_from: int,
        last_seq: int,
        open_turns: OpenTurns,
        events: Iterable[RecordedEvent],
        erasures: int = 0,
    ) -> Session:
        """Return a session as it was stored; `events` are its window, all of them stored."""
        session = cls(session_id, user_id, created_at=created_at)
        session._state = State.from_json(state)
        session._stored_state = state
        session.updated_at = updated_at
        session.version = version
        session.window_from = window_from
        session.last_seq = last_seq
        session.erasures = erasures
        session.open_turns = open_turns
        session._events = list(events)
        session._length = len(session._events)
        return session

    def to_dict(self) -> dict[str, Any]:
        """Return everything but what lies before the window, as JSON values.

        Raises:
            StateError: if a value of the state is not JSON.
        """
        return {
            "session_id": self.session_id,
            "user_id": self.user_id,
            "state": json.loads(self.state_json()),
            "created_at": self.created_at.isoformat(),
            "updated_at": self.updated_at.isoformat(),
            "version": self.version,
            "window_from": self.window_from,
            "last_seq": self.last_seq,
            "open_turns": [turn.to_dict() for turn in self.open_turns],
            "events": [codec.encode(event) for event in self.since(0)],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Session:
        """Return the session that `to_dict` told; all of it counts as stored."""
        return cls.restored(
            data["session_id"],
            data["user_id"],
            state=State(data["state"]).to_json(),
            created_at=datetime.fromisoformat(data["created_at"]),
            updated_at=datetime.fromisoformat(data["updated_at"]),
            version=data["version"],
            window_from=data["window_from"],
            last_seq=data["last_seq"],
            open_turns=turns_from(data["open_turns"]),
            events=[codec.decode(event) for event in data["events"]],
        )
