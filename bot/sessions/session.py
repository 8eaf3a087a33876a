"""A session: one conversation, as an append-only log with a little bookkeeping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    CompactionDoneEvent,
    RecordedEvent,
    ResetEvent,
    ToolResultEvent,
    ToolStartedEvent,
    TurnEndedEvent,
    UserMessageEvent,
    new_id,
    utc_now,
)
from bot.sessions.state import State

MAX_ID_LENGTH = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurn:
    """A turn that has no end yet: its first event's `seq`, and its undecided approval ids."""

    turn_id: str
    seq: int
    pending: tuple[str, ...] = ()


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
        state: JSON values that survive a reset.
        created_at: When it was made, UTC.
        updated_at: When it was last appended to, UTC.
        version: How often it was saved; a store refuses a save that is behind.
        open_turns: The turns without an end, oldest first.
        window_from: The `seq` at which the model's view begins.
        last_seq: The `seq` of the newest event, 0 when there is none.
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
        self.state = State(state)
        self.created_at = created_at or utc_now()
        self.updated_at = self.created_at
        self.version = 0
        self.open_turns: tuple[OpenTurn, ...] = ()
        self.window_from = 1
        self.last_seq = 0
        self._events: list[RecordedEvent] = []
        self._stored_seq = 0

    def __repr__(self) -> str:
        return f"<Session {self.session_id!r} last_seq={self.last_seq} version={self.version}>"

    # -- reading -----------------------------------------------------------------------------------

    @property
    def events(self) -> Sequence[RecordedEvent]:
        """The window: the events that the model may still see, oldest first."""
        return tuple(self._events)

    @property
    def unsaved(self) -> Sequence[RecordedEvent]:
        """The events that no save has stored yet."""
        return self.since(self._stored_seq + 1)

    def since(self, seq: int) -> Sequence[RecordedEvent]:
        """Return the window's events from number `seq` on; costs O(what it returns)."""
        if not self._events:
            return ()
        return self._events[max(0, seq - self._events[0].seq) :]

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
        placed = event.placed(self.last_seq + 1, event.turn_id or self._turn_of(event))
        self._events.append(placed)
        self.last_seq = placed.seq
        self.updated_at = placed.at
        self._book(placed)
        return placed

    def _turn_of(self, event: RecordedEvent) -> str:
        match event:
            case UserMessageEvent():
                return new_id("turn")
            case ToolStartedEvent() | ToolResultEvent() | ApprovalRequestedEvent():
                return self._turn_of_call(event.call_id)
            case ApprovalDecidedEvent():
                return self._turn_of_approval(event.approval_id)
            case ResetEvent() | CompactionDoneEvent():
                return ""
            case AssistantMessageEvent() if not self.open_turns:
                return new_id("turn")
            case _:
                return self.open_turns[0].turn_id if self.open_turns else ""

    def _turn_of_call(self, call_id: str) -> str:
        for event in reversed(self._events):
            if isinstance(event, AssistantMessageEvent) and any(
                call.call_id == call_id for call in event.tool_calls
            ):
                return event.turn_id
        return ""

    def _turn_of_approval(self, approval_id: str) -> str:
        for event in reversed(self._events):
            if isinstance(event, ApprovalRequestedEvent) and event.approval_id == approval_id:
                return event.turn_id
        return ""

    def _book(self, event: RecordedEvent) -> None:
        match event:
            case UserMessageEvent():
                self._open(event)
            case AssistantMessageEvent(tool_calls=(), interrupted=False) | TurnEndedEvent():
                self._close(event.turn_id)
            case ApprovalRequestedEvent():
                self._wait_for(event)
            case ApprovalDecidedEvent():
                self._no_longer_wait_for(event.approval_id)
            case ResetEvent():
                self.open_turns = ()
                self._begin_window(event.window_from)
            case CompactionDoneEvent():
                self._begin_window(event.window_from)
            case _:
                pass

    def _open(self, event: UserMessageEvent) -> None:
        if all(turn.turn_id != event.turn_id for turn in self.open_turns):
            self.open_turns += (OpenTurn(turn_id=event.turn_id, seq=event.seq),)

    def _close(self, turn_id: str) -> None:
        self.open_turns = tuple(turn for turn in self.open_turns if turn.turn_id != turn_id)

    def _wait_for(self, request: ApprovalRequestedEvent) -> None:
        self.open_turns = tuple(
            replace(turn, pending=(*turn.pending, request.approval_id))
            if turn.turn_id == request.turn_id
            else turn
            for turn in self.open_turns
        )

    def _no_longer_wait_for(self, approval_id: str) -> None:
        self.open_turns = tuple(
            replace(turn, pending=tuple(a for a in turn.pending if a != approval_id))
            for turn in self.open_turns
        )

    def _begin_window(self, seq: int) -> None:
        self.window_from = seq
        self._events = [event for event in self._events if event.seq >= seq]

    # -- for stores --------------------------------------------------------------------------------

    def mark_saved(self, *, seq: int, version: int) -> None:
        """Note that everything up to number `seq` is stored, as that version."""
        self._stored_seq = max(self._stored_seq, seq)
        self.version = version

    def load(self, events: Iterable[RecordedEvent]) -> None:
        """Take events that a store has read: the window, oldest first, all of them stored."""
        self._events = list(events)
        self._stored_seq = self.last_seq

    def adopt(self, stored: Session) -> None:
        """Become what a store holds, in place; of the state, keep what was changed here since."""
        if stored is self:
            return
        self.user_id, self.created_at = stored.user_id, stored.created_at
        self.updated_at, self.version = stored.updated_at, stored.version
        self.open_turns, self.window_from = stored.open_turns, stored.window_from
        self.last_seq = stored.last_seq
        self.load(stored.events)
        self.state.rebase(stored.state)
