"""Deliveries: what people should see of a session, and the Discord messages that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime

from bot.sessions.stores.rests import Rest
from bot.sessions.times import stored_time
from bot.storage import Connection, Database, Later, Row

# a session that was deleted meanwhile has no deliveries any more
_PUT = """
    INSERT INTO deliveries (session_id, turn_id, subject, purpose, part,
                            channel_id, message_id, content_hash, final)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
    WHERE EXISTS (SELECT 1 FROM sessions WHERE session_id = ?1)
    ON CONFLICT (session_id, turn_id, subject, purpose, part) DO UPDATE
    SET channel_id = ?6, message_id = ?7, content_hash = ?8, final = ?9"""

_REMOVE = """
    DELETE FROM deliveries
    WHERE session_id = ? AND turn_id = ? AND subject = ? AND purpose = ? AND part = ?"""

_MOVE = """
    UPDATE deliveries SET subject = ?6, purpose = ?7, part = ?8
    WHERE session_id = ?1 AND turn_id = ?2 AND subject = ?3 AND purpose = ?4 AND part = ?5"""

_SELECT = """
    SELECT session_id, turn_id, subject, purpose, part, channel_id, message_id, content_hash, final
    FROM deliveries WHERE session_id = ?{of_turns}
    ORDER BY turn_id, subject, purpose, part"""

_SELECT_BY_MESSAGE = """
    SELECT session_id, turn_id, subject, purpose, part, channel_id, message_id, content_hash, final
    FROM deliveries WHERE message_id = ?"""

# of a session that shows all that was recorded: nothing of it is changed any more
_PRUNE = """
    DELETE FROM deliveries WHERE message_id IN (
        SELECT message_id FROM deliveries
        WHERE message_id < ?
        AND NOT EXISTS (SELECT 1 FROM behind WHERE behind.session_id = deliveries.session_id)
        ORDER BY message_id LIMIT ?)"""

# Nobody has seen more than there is: that was another session of this id, which was deleted.
_DELIVERED_TO = """
    INSERT INTO delivered (session_id, seq)
    SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM sessions WHERE session_id = ?1 AND last_seq >= ?2)
    ON CONFLICT (session_id) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > delivered.seq"""

# Who is about to record something has its row: we wait, and then see what was recorded.
_WAIT_FOR_SAVES = "UPDATE sessions SET holder = holder WHERE session_id = ?"

_UP_TO_DATE = """
    DELETE FROM behind WHERE session_id = ?1
    AND EXISTS (SELECT 1 FROM sessions WHERE session_id = ?1 AND last_seq = ?2)"""

_RESTS = """
    UPDATE behind SET version = ?, shown_by = ?, wake_at = ?
    WHERE session_id = ? AND shown_by = ?"""

_PROGRESS = """
    SELECT coalesce(seq, 0), sessions.version, behind.version, coalesce(shown_by, ''), wake_at
    FROM sessions
    LEFT JOIN delivered ON delivered.session_id = sessions.session_id
    LEFT JOIN behind ON behind.session_id = sessions.session_id
    WHERE sessions.session_id = ?"""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message that people should see, and the Discord message that shows it.

    Attributes:
        session_id: Whose log asks for it.
        turn_id: The turn it belongs to.
        subject: The model call or approval that it shows.
        purpose: What for, for example an answer or a card.
        part: Which of several messages, from 0.
        channel_id: Where it is.
        message_id: The Discord message; `None` when it was not sent, or nobody knows.
        content_hash: What it shows now.
        final: Whether it is the last state.
    """

    session_id: str
    turn_id: str
    subject: str
    purpose: str
    part: int
    channel_id: int
    message_id: int | None
    content_hash: str
    final: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """How far people have seen a session.

    Attributes:
        seq: Up to this event nothing of what they see will change; 0 for nothing.
        version: The session's now; 0 if there is none.
        shown_by: What showed it last, or what has changed since then.
        rest: What was last noted of one that waits and is shown.
    """

    seq: int = 0
    version: int = 0
    shown_by: str = ""
    rest: Rest | None = None


class DeliveryStore:
    """The deliveries of all sessions; a deleted session's go with it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(
        self, session_id: str, turn_ids: Iterable[str] | None = None
    ) -> Sequence[Delivery]:
        """Return a session's deliveries, of some turns or of all, in the order of their keys."""
        turns = () if turn_ids is None else tuple(turn_ids)
        if turn_ids is not None and not turns:
            return []
        of_turns = f" AND turn_id IN ({', '.join('?' * len(turns))})" if turns else ""
        sql = _SELECT.format(of_turns=of_turns)
        return [_delivery(row) for row in await self._database.fetch(sql, (session_id, *turns))]

    async def by_message(self, message_id: int) -> Delivery | None:
        """Return what a Discord message shows, if it shows anything of ours."""
        rows = await self._database.fetch(_SELECT_BY_MESSAGE, (message_id,))
        return _delivery(rows[0]) if rows else None

    async def put(self, *deliveries: Delivery) -> None:
        """Store deliveries, in place of those of the same keys, all in one write."""
        await self._database.execute_many(_PUT, [astuple(each) for each in deliveries])

    async def remove(self, *deliveries: Delivery) -> None:
        """Forget the deliveries of these keys, all in one write."""
        await self._database.execute_many(_REMOVE, [astuple(each)[:5] for each in deliveries])

    async def move(self, delivery: Delivery, subject: str, purpose: str, part: int) -> None:
        """Let a delivery be that of another key of its turn: its message shows that from now on."""
        await self._database.execute(_MOVE, (*astuple(delivery)[:5], subject, purpose, part))

    async def prune(self, before: int, *, limit: int) -> int:
        """Forget so many deliveries of messages with lower ids, the oldest first; return how many.

        Those of sessions that are behind stay.
        """
        return await self._database.execute(_PRUNE, (before, limit))

    async def progress(self, session_id: str) -> Progress:
        """Return how far people have seen a session."""
        rows = await self._database.fetch(_PROGRESS, (session_id,))
        return _progress(rows[0]) if rows else Progress()

    async def set_delivered_to(
        self,
        session_id: str,
        seq: int,
        rest: Rest | None = None,
        *,
        since: Progress = Progress(),
    ) -> bool:
        """Note up to which event people have seen a session; never goes back.

        With `rest` also that they see all there is of a session that waits; return `False` instead
        if what they should see may have become another one `since` it was asked for.
        """
        job = showing_up_to(session_id, seq, rest, since=since.shown_by)
        return await self._database.write(job)


def showing_up_to(
    session_id: str, seq: int, rest: Rest | None = None, *, since: str = ""
) -> Callable[[Connection], Later[bool] | bool]:
    """Return the job that notes up to which event people have seen a session."""

    def job(connection: Connection) -> Later[bool] | bool:
        connection.execute(_WAIT_FOR_SAVES, (session_id,)).close()
        for statement in (_DELIVERED_TO, _UP_TO_DATE):
            connection.execute(statement, (session_id, seq)).close()
        if rest is None:
            return True
        row = (rest.version, rest.shown_by, stored_time(rest.wake_at), session_id, since)
        noted = connection.execute(_RESTS, row)
        return Later(lambda: noted.rowcount == 1)

    return job


def _progress(row: Row) -> Progress:
    seq, version, shown_version, shown_by, wake_at = row
    rest = Rest(shown_version, shown_by, datetime.fromisoformat(wake_at)) if wake_at else None
    return Progress(seq, version, shown_by, rest)


def _delivery(row: Row) -> Delivery:
    return Delivery(*(*row[:-1], bool(row[-1])))
