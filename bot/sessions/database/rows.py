"""A session as rows of a SQLite database, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from bot.errors import SessionConflictError
from bot.events import RecordedEvent, codec
from bot.sessions.database.kept import Events
from bot.sessions.database.owned import note_whose
from bot.sessions.session import Session
from bot.sessions.store import refusal
from bot.sessions.times import stored_time
from bot.sessions.turns import turns_from
from bot.storage import Later, Row

if TYPE_CHECKING:
    from bot.storage import Connection, Cursor

_INSERT_SESSION = """
    INSERT INTO sessions
    (state, updated_at, last_seq, window_from, open_turns, rested,
     holder, session_id, user_id, created_at, version)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (session_id) DO NOTHING"""

_UPDATE_SESSION = """
    UPDATE sessions
    SET state = ?, updated_at = ?, last_seq = ?, window_from = ?, open_turns = ?,
        rested = ?, version = version + 1, holder = coalesce(nullif(holder, ?), ?)
    WHERE session_id = ? AND created_at = ? AND version = ?"""

_INSERT_EVENT = """
    INSERT INTO events (session_id, seq, kind, turn_id, natural_key, body)
    VALUES (?, ?, ?, ?, ?, ?)"""

_NOTE_BEHIND = "INSERT INTO behind (session_id) VALUES (?) ON CONFLICT DO NOTHING"

_SELECT_SESSION = """
    SELECT user_id, state, created_at, updated_at, version, last_seq, window_from, open_turns,
           erasures
    FROM sessions WHERE session_id = ?"""

_SELECT_HOLDER = "SELECT holder FROM sessions WHERE session_id = ?"

_SELECT_EVENTS = "SELECT body FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?"

# What comes from number ?2 on, if it is in the window.
_SELECT_NEWER = """
    SELECT body FROM events WHERE session_id = ?1 AND seq >= coalesce(
        (SELECT window_from FROM sessions WHERE session_id = ?1 AND window_from > ?2), ?2)
    ORDER BY seq"""

Loaded = tuple[Session | None, str, Events]
"""A session, if there is one, the generation of its log, and its window."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What came of a save: the version that is stored, and whether the lease was taken with it."""

    version: int
    taken: bool = False


def inserting(
    session: Session, state: str, *, rests: bool = False
) -> Callable[[Connection], Later[bool]]:
    """Return the job that stores a new session; it returns whether there was none of its id."""
    values = (*_columns(session, state, rested=int(rests)), None, *_made(session))

    def job(connection: Connection) -> Later[bool]:
        inserted = connection.execute(_INSERT_SESSION, values)
        return Later(lambda: inserted.rowcount == 1)

    return job


def _made(session: Session) -> tuple[str, str | None, str]:
    return session.session_id, session.user_id, stored_time(session.created_at)


def saving(
    session: Session,
    state: str,
    unsaved: Sequence[RecordedEvent],
    *,
    release: str | None = None,
    take: str | None = None,
    rests: bool = False,
) -> Callable[[Connection], Later[Saved] | Saved]:
    """Return the job that stores what is not stored yet.

    It takes what it needs of the session now. In the same transaction the lease of `release` is
    given back, or given to `take` if it is free, and noted whether that version `rests`. When
    it runs it raises `SessionConflictError` if the session's version is not the stored one.
    """
    session_id, user_id, created_at = _made(session)
    version = session.version
    columns = _columns(session, state, rested=version + 1 if rests else 0)
    bodies = [codec.to_json(event) for event in unsaved]
    changed = session.changed(state)

    def job(connection: Connection) -> Later[Saved] | Saved:
        if not changed and not _holding(connection, session_id, release)():
            return Saved(version)
        rest: Row
        if version:
            sql, rest = _UPDATE_SESSION, (release, take, session_id, created_at, version)
        else:
            sql, rest = _INSERT_SESSION, (take, session_id, user_id, created_at)
        connection.insist(sql, (*columns, *rest), lambda: SessionConflictError(session_id))
        for event, body in zip(unsaved, bodies, strict=True):
            _insert_event(connection, session_id, event, body)
        if unsaved:
            connection.execute(_NOTE_BEHIND, (session_id,)).close()
            note_whose(connection, session_id, unsaved)
        if take is None:
            return Saved(version + 1)
        taken = _holding(connection, session_id, take)
        return Later(lambda: Saved(version + 1, taken=taken()))

    return job


def _holding(connection: Connection, session_id: str, holder: str | None) -> Callable[[], bool]:
    """Return what tells, once it has been heard, whether a holder has a session's lease."""
    rows = connection.execute(_SELECT_HOLDER, (session_id,))
    return lambda: bool(rows.fetchone() == (holder,))


def _insert_event(connection: Connection, session_id: str, event: RecordedEvent, body: str) -> None:
    key = event.natural_key
    row = (session_id, event.seq, event.kind, event.turn_id, key, body)
    connection.insert(_INSERT_EVENT, row, lambda: refusal(session_id, event))


def _columns(session: Session, state: str, *, rested: int) -> Row:
    return (
        state,
        stored_time(session.updated_at),
        session.last_seq,
        session.window_from,
        json.dumps([turn.to_dict() for turn in session.open_turns]),
        rested,
    )


def load(connection: Connection, session_id: str, kept: tuple[str, Events]) -> Later[Loaded | None]:
    """Return a session, the generation of its log, and its window.

    `kept` is a generation of a log of this id, and events of it that need not be read again. If
    they are of another generation, or begin within the window, nothing is returned.
    """
    made, events = kept
    first = events[-1].seq + 1 if events else 1
    rows = connection.execute(_SELECT_SESSION, (session_id,))
    newer = connection.execute(_SELECT_NEWER, (session_id, first))

    def tell() -> Loaded | None:
        row = rows.fetchone()
        if row is None:
            return None, "", ()
        window_from, now = row[6], generation(row[2], row[8])
        if events and (made != now or events[0].seq > window_from):
            return None
        kept_still = events[window_from - events[0].seq :] if events else ()
        window = (*kept_still, *_events(newer))
        return _session(session_id, row, window), now, window

    return Later(tell)


def events_after(
    connection: Connection, session_id: str, seq: int, limit: int
) -> Later[Sequence[RecordedEvent]]:
    """Return the events of a log that come after number `seq`, at most so many."""
    found = connection.execute(_SELECT_EVENTS, (session_id, seq, limit))
    return Later(lambda: _events(found))


def _events(found: Cursor) -> list[RecordedEvent]:
    return codec.from_json([body for (body,) in found.fetchall()])


def generation(created_at: str, erasures: int) -> str:
    """Return what names the log of a session made then, as it is after so many erasures."""
    return f"{created_at} {erasures}"


def _session(session_id: str, row: Row, events: Events) -> Session:
    (
        user_id,
        state,
        created_at,
        updated_at,
        version,
        last_seq,
        window_from,
        open_turns,
        erasures,
    ) = row
    return Session.restored(
        session_id,
        user_id,
        state=state,
        created_at=datetime.fromisoformat(created_at),
        updated_at=datetime.fromisoformat(updated_at),
        version=version,
        window_from=window_from,
        last_seq=last_seq,
        open_turns=turns_from(json.loads(open_turns)),
        events=events,
        erasures=erasures,
    )
