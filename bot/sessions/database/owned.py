"""Whose the rows of a database are, and the jobs that forget them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from bot.errors import SessionConflictError
from bot.events import CompactionDoneEvent, RecordedEvent, UserMessageEvent, codec
from bot.sessions.erasing import (
    Erasure,
    check_closed,
    erasure,
    files_of,
    quoted_by,
    unquoted,
)
from bot.sessions.session import Session
from bot.sessions.times import stored_time
from bot.storage import Later

if TYPE_CHECKING:
    from bot.storage import Connection

_WROTE = """
    INSERT INTO authors (user_id, session_id, last_at, messages) VALUES (?, ?, ?, 1)
    ON CONFLICT (user_id, session_id) DO UPDATE
    SET last_at = excluded.last_at, messages = authors.messages + 1"""

_WROTE_LESS = "UPDATE authors SET messages = messages - ? WHERE user_id = ? AND session_id = ?"

_WROTE_NOTHING = "DELETE FROM authors WHERE session_id = ? AND messages <= 0"

_USES = """
    INSERT INTO blob_uses (sha256, session_id, turn_id) VALUES (?, ?, ?)
    ON CONFLICT DO NOTHING"""

_QUOTES = """
    INSERT INTO quoted (user_id, session_id, turn_id) VALUES (?, ?, ?)
    ON CONFLICT DO NOTHING"""

_SELECT_QUOTING = """
    SELECT body FROM events WHERE session_id = ?1 AND (kind = ?3 OR turn_id IN (
        SELECT turn_id FROM quoted WHERE session_id = ?1 AND user_id = ?2))
    ORDER BY seq"""

_QUOTES_NO_MORE = "DELETE FROM quoted WHERE session_id = ? AND user_id = ?"

_MARK_ERASED = """
    UPDATE sessions SET version = version + 1, erasures = erasures + 1
    WHERE session_id = ? AND created_at = ? AND version = ?"""

_SELECT_TURNS = "SELECT turn_id, kind, body FROM events WHERE session_id = ? ORDER BY seq"

_SELECT_MESSAGES = """
    SELECT body FROM events WHERE session_id = ? AND kind = 'user_message' ORDER BY seq"""

_SET_BODY = "UPDATE events SET body = ? WHERE session_id = ? AND seq = ?"

# One that was handed in after the last event that told of it is about to be told of by another.
_DROP_BLOB = """
    DELETE FROM blobs WHERE sha256 = ?1 AND put_at <= ?2
    AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE sha256 = ?1)"""

_DELETE = "DELETE FROM sessions WHERE session_id = ?"

# What was allowed there from now on has the arguments of calls in it.
_DELETE_DECIDED = "DELETE FROM policy_changes WHERE scope = ? AND kind IN ('grant', 'revoke')"

_IDLE = " AND open_turns = '[]' AND updated_at <= ?"

# What refers to them was stored by then: what is handed in later, another is about to tell of.
_SELECT_USES = """
    SELECT DISTINCT sha256, updated_at FROM blob_uses JOIN sessions USING (session_id)
    WHERE session_id = ?"""


def note_whose(connection: Connection, session_id: str, events: Sequence[RecordedEvent]) -> None:
    """Note who wrote, who is quoted and which bytes are referred to in events being stored."""
    for event in events:
        for file in files_of(event):
            connection.execute(_USES, (file.sha256, session_id, event.turn_id)).close()
        if isinstance(event, UserMessageEvent):
            _note_people(connection, session_id, event)


def _note_people(connection: Connection, session_id: str, message: UserMessageEvent) -> None:
    if message.author:
        row = (message.author.user_id, session_id, stored_time(message.at))
        connection.execute(_WROTE, row).close()
    for user_id in quoted_by(message):
        connection.execute(_QUOTES, (user_id, session_id, message.turn_id)).close()


def turns_of(connection: Connection, session_id: str, user_id: str) -> Later[Sequence[str]]:
    """Return the turns in which somebody wrote, oldest first."""
    found = connection.execute(_SELECT_MESSAGES, (session_id,))

    def tell() -> Sequence[str]:
        events = codec.from_json(body for (body,) in found.fetchall())
        messages = (event for event in events if isinstance(event, UserMessageEvent))
        theirs = (e.turn_id for e in messages if e.author and e.author.user_id == user_id)
        return tuple(dict.fromkeys(theirs))

    return Later(tell)


def erasing(session: Session, turn_ids: Collection[str] | None) -> Callable[[Connection], None]:
    """Return the job that erases turns of a session; it raises if that is not the stored one.

    Raises:
        ValueError: if one of the turns is open.
    """
    wanted = None if turn_ids is None else frozenset(turn_ids)
    check_closed(session, wanted)
    mark = _marking(session)

    def job(connection: Connection) -> None:
        session_id = mark(connection)
        todo = erasure(_log_of(connection, session_id, wanted), wanted)
        _put_instead(connection, session_id, todo.instead)
        _forget_whose(connection, session_id, todo)
        _forget_turns(connection, session_id, wanted)
        _drop_blobs(connection, {k: stored_time(at) for k, at in todo.blobs.items()})

    return job


def unquoting(session: Session, user_id: str) -> Callable[[Connection], None]:
    """Return the job that erases what messages quote of somebody; it raises as `erasing`'s."""
    mark = _marking(session)

    def job(connection: Connection) -> None:
        session_id = mark(connection)
        values = (session_id, user_id, CompactionDoneEvent.kind)
        rows = connection.execute(_SELECT_QUOTING, values).fetchall()
        events = codec.from_json(body for (body,) in rows)
        _put_instead(connection, session_id, unquoted(events, user_id))
        connection.execute(_QUOTES_NO_MORE, (session_id, user_id)).close()

    return job


def _marking(session: Session) -> Callable[[Connection], str]:
    """Return what notes that content is erased of a session, and returns its id."""
    stored = (session.session_id, stored_time(session.created_at), session.version)

    def mark(connection: Connection) -> str:
        if connection.execute(_MARK_ERASED, stored).rowcount != 1:
            raise SessionConflictError(stored[0])
        return stored[0]

    return mark


def _put_instead(connection: Connection, session_id: str, events: Sequence[RecordedEvent]) -> None:
    for event in events:
        connection.execute(_SET_BODY, (codec.to_json(event), session_id, event.seq)).close()


def deleting(session_id: str, idle_since: datetime | None) -> Callable[[Connection], bool]:
    """Return the job that deletes a session; it returns whether it did."""
    sql = _DELETE if idle_since is None else _DELETE + _IDLE
    values = (session_id,) if idle_since is None else (session_id, stored_time(idle_since))

    def job(connection: Connection) -> bool:
        blobs = dict(connection.execute(_SELECT_USES, (session_id,)).fetchall())
        deleted = connection.execute(sql, values).rowcount == 1
        if deleted:
            connection.execute(_DELETE_DECIDED, (session_id,)).close()
            _drop_blobs(connection, blobs)
        return deleted

    return job


def _log_of(
    connection: Connection, session_id: str, turn_ids: Collection[str] | None
) -> Iterable[RecordedEvent]:
    """Return the events of some turns, or of all, and the compactions."""
    rows = connection.execute(_SELECT_TURNS, (session_id,)).fetchall()
    return codec.from_json(
        body
        for turn_id, kind, body in rows
        if kind == CompactionDoneEvent.kind or turn_ids is None or turn_id in turn_ids
    )


def _forget_whose(connection: Connection, session_id: str, todo: Erasure) -> None:
    for user_id, messages in todo.authors.items():
        connection.execute(_WROTE_LESS, (messages, user_id, session_id)).close()
    connection.execute(_WROTE_NOTHING, (session_id,)).close()


def _forget_turns(
    connection: Connection, session_id: str, turn_ids: Collection[str] | None
) -> None:
    """Forget what people see of turns, the bytes that they refer to, and whom they quote.

    Of all turns also the state, and what was allowed from then on.
    """
    for table in ("deliveries", "blob_uses", "quoted"):
        sql = f"DELETE FROM {table} WHERE session_id = ?"  # noqa: S608 - the names are ours
        if turn_ids is None:
            connection.execute(sql, (session_id,)).close()
        for turn_id in turn_ids or ():
            connection.execute(f"{sql} AND turn_id = ?", (session_id, turn_id)).close()
    if turn_ids is None:
        sql = "UPDATE sessions SET state = '{}' WHERE session_id = ?"
        connection.execute(sql, (session_id,)).close()
        connection.execute(_DELETE_DECIDED, (session_id,)).close()


def _drop_blobs(connection: Connection, used: Mapping[str, str]) -> None:
    for sha256, at in used.items():
        connection.execute(_DROP_BLOB, (sha256, at)).close()
