"""Sessions in a database of any engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TypeVar

from bot.errors import SessionExistsError, StorageError
from bot.events import RecordedEvent, codec
from bot.sessions.database.blobs import Blobs
from bot.sessions.database.holders import Holders
from bot.sessions.database.kept import KeptEvents
from bot.sessions.database.leases import Leases
from bot.sessions.database.listings import Listings
from bot.sessions.database.owned import deleting, erasing, turns_of, unquoting
from bot.sessions.database.rows import (
    Loaded,
    Saved,
    events_after,
    generation,
    inserting,
    load,
    saving,
)
from bot.sessions.session import Session, check_session_id
from bot.sessions.store import (
    ApprovalRecord,
    Lease,
    SessionInfo,
    SessionStore,
    Standing,
    Written,
    approval_record,
)
from bot.sessions.times import stored_time
from bot.storage import Connection, Database, Later, Row

T = TypeVar("T")

_SELECT_BY_KEY = "SELECT session_id, body FROM events WHERE natural_key IN (?, ?)"

_QUOTING = "SELECT DISTINCT session_id FROM quoted WHERE user_id = ? ORDER BY session_id"


class SQLSessionManager(SessionStore):
    """Keeps sessions in a database, which several processes may use.

    `database` is for small stores that share it. With `serves_many` so may bots of several
    processes, not just other programs beside the one.
    """

    is_shared = True
    serves_many = False

    def __init__(self, database: Database, holders: Holders) -> None:
        self.database = database
        self._holders = holders
        self._kept = KeptEvents()
        self._leases = Leases(database, holders)
        self._listings = Listings(database)
        self._blobs = Blobs(database)

    async def initialize(self) -> None:
        """Open the database now rather than when first used."""
        await self.database.open()

    async def close(self) -> None:
        """Close the database and end the holders registered here."""
        try:
            await self.database.close()
        finally:
            self._holders.close()

    # -- the four methods --------------------------------------------------------------------------

    async def create(self, session_id: str, user_id: str | None = None) -> Session:
        """Make and store an empty session."""
        session = Session(session_id, user_id)
        made: bool = await self.database.write(inserting(session, session.state_json()))
        if not made:
            raise SessionExistsError(session_id)
        session.mark_saved(seq=0, version=1, state=session.state_json())
        return session

    async def get(self, session_id: str) -> Session | None:
        """Return the session, or `None` only when there is none."""
        check_session_id(session_id)
        kept = self._kept.of(session_id)
        found: Loaded | None = await self._read(lambda c: load(c, session_id, kept))
        if found is None:  # what is kept is of no use
            self._kept.drop(session_id)
            return await self.get(session_id)
        session, made, events = found
        if events:
            self._kept.keep(session_id, made, events)
        return session

    async def save(
        self, session: Session, *, release: str | None = None, rests: bool = False
    ) -> None:
        """Store what is not stored yet; in the same commit give back `release`'s lease."""
        await self._save(session, release=release, rests=rests)

    async def save_taking(self, session: Session, holder: str) -> bool:
        """Do as `save` does, and in the same commit take the lease, if nobody holds it."""
        return await self._save(session, take=holder)

    async def _save(
        self,
        session: Session,
        *,
        release: str | None = None,
        take: str | None = None,
        rests: bool = False,
    ) -> bool:
        """Return whether `take` holds the lease."""
        state, unsaved, seq = session.state_json(), session.unsaved, session.last_seq
        if not session.changed(state) and release is None:
            return False
        save = saving(session, state, unsaved, release=release, take=take, rests=rests)

        def saved(done: Saved) -> None:
            session.mark_saved(seq=seq, version=done.version, state=state)
            made = generation(stored_time(session.created_at), session.erasures)
            self._kept.extend(session.session_id, made, unsaved, session.window_from)

        def job(connection: Connection) -> Later[Saved] | Saved:
            done = save(connection)
            self._holders.tell_others(connection, session.session_id)
            return done

        done = await self.database.write(job, saved)
        return done.taken

    # -- the lease ---------------------------------------------------------------------------------

    async def register(self) -> str:
        """Return a new holder's id; it lives until `close` or the end of the process."""
        return await self.database.write(lambda connection: self._holders.register(connection))

    async def lease(self, session_id: str, holder: str) -> Lease:
        """Take the session's lease for `holder` if it is free, its own, or a dead holder's.

        For a session that is not there it is not taken, and the version is 0. Taken over, the
        session has a new version: what its former holder, if it is alive after all, saves next is
        a conflict.
        """
        return await self._leases.take(session_id, holder)

    async def standing(self, session_id: str) -> Standing | None:
        """Return how a session stands now, `None` if there is none."""
        return await self._leases.standing(session_id)

    def hearing(self, session_id: str) -> AbstractContextManager[asyncio.Event]:
        """Give an event that is set when another process has recorded something in a session."""
        return self.database.hearing(session_id)

    async def is_run_here(self, session_id: str) -> bool:
        """Return whether a holder registered here holds a session's lease."""
        return await self._leases.is_here(session_id)

    async def is_run_elsewhere(self, session_id: str) -> bool:
        """Return whether another living process holds a session's lease."""
        return await self._leases.is_elsewhere(session_id)

    async def abandoned(self) -> Sequence[str]:
        """Return ids of sessions with open turns whose holder has ended, in their order."""
        return await self._leases.abandoned()

    # -- reading -----------------------------------------------------------------------------------

    async def list_sessions(
        self, user_id: str, *, limit: int = 50, before: datetime | None = None
    ) -> Sequence[SessionInfo]:
        """Return a user's sessions, the latest updated first, one page before a time.

        Sessions updated at the very time at which a page ends are all on it.
        """
        return await self._listings.made_for(user_id, limit=limit, before=before)

    async def open_sessions(self, *, after: str = "", limit: int = 500) -> Sequence[str]:
        """Return ids of sessions with open turns, in the order of ids, those after `after`."""
        return await self._listings.open_after(after, limit=limit)

    async def read_log(
        self, session_id: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[RecordedEvent]:
        """Return one page of the whole log, what lies before the window included."""
        check_session_id(session_id)
        return await self._read(lambda c: events_after(c, session_id, after, limit))

    async def find_approval(self, approval_id: str) -> ApprovalRecord | None:
        """Return an approval by its id, in whatever session, in the window or not."""
        keys = (f"request:{approval_id}", f"decision:{approval_id}")

        def job(connection: Connection) -> Later[ApprovalRecord | None]:
            found = connection.execute(_SELECT_BY_KEY, keys)
            return Later(lambda: _approval(found.fetchall()))

        return await self._read(job)

    async def sessions_after(self, after: str = "", *, limit: int = 500) -> Sequence[SessionInfo]:
        """Return all sessions in the order of their ids, one page after an id."""
        return await self._listings.all_after(after, limit=limit)

    # -- whose it is, and forgetting ---------------------------------------------------------------

    async def written_by(
        self, user_id: str, *, limit: int = 50, before: datetime | None = None
    ) -> Sequence[Written]:
        """Return where somebody wrote, the latest first, one page before a time.

        Sessions in which they wrote at the very time at which a page ends are all on it.
        """
        return await self._listings.written_by(user_id, limit=limit, before=before)

    async def authors(self, session_id: str) -> Mapping[str, int]:
        """Return who wrote in a session, and how many messages."""
        sql = "SELECT user_id, messages FROM authors WHERE session_id = ?"
        return dict(await self.database.fetch(sql, (session_id,)))

    async def turns_of(self, session_id: str, user_id: str) -> Sequence[str]:
        """Return the turns in which somebody wrote, oldest first."""
        return await self._read(lambda c: turns_of(c, session_id, user_id))

    async def erase(self, session: Session, turn_ids: Collection[str] | None) -> None:
        """Erase the content of some turns in place, or of all and the state; `session` is old then.

        The whole log is read for it, in the thread that writes.
        """
        self._kept.drop(session.session_id)
        await self.database.write(erasing(session, turn_ids))

    async def quoting(self, user_id: str) -> Sequence[str]:
        """Return ids of sessions in which messages quote somebody, in their order."""
        rows = await self.database.fetch(_QUOTING, (user_id,))
        return [session_id for (session_id,) in rows]

    async def unquote(self, session: Session, user_id: str) -> None:
        """Erase what messages of a session quote of somebody in place; `session` is old then."""
        self._kept.drop(session.session_id)
        await self.database.write(unquoting(session, user_id))

    async def forget_user(self, user_id: str) -> None:
        """Forget for whom sessions were made, where it was for this user."""
        sql = "UPDATE sessions SET user_id = NULL WHERE user_id = ?"
        await self.database.execute(sql, (user_id,))

    async def delete(self, session_id: str, *, idle_since: datetime | None = None) -> bool:
        """Forget a session, its log and bytes that only it refers to; return whether it did."""
        deleted = await self.database.write(deleting(session_id, idle_since))
        if deleted:
            self._kept.drop(session_id)
        return deleted

    async def purge(self) -> None:
        """Let nothing that was forgotten be left in the database's files, if that can be done."""
        await self.database.purge()

    # -- blobs -------------------------------------------------------------------------------------

    async def put_blob(self, data: bytes) -> str:
        """Store bytes once; return their SHA-256 in hexadecimal."""
        return await self._blobs.put(data)

    async def drop_blobs(self, before: datetime) -> None:
        """Forget bytes handed in before a time to which nothing refers."""
        await self._blobs.drop_unused(before)

    async def get_blob(self, sha256: str) -> bytes | None:
        """Return stored bytes, or `None`."""
        return await self._blobs.get(sha256)

    async def _read(self, job: Callable[[Connection], Later[T] | T]) -> T:
        try:
            return await self.database.read(job)
        except ValueError as exc:
            raise StorageError(f"{self.database.name}: a row is damaged: {exc}") from exc


def _approval(rows: Sequence[Row]) -> ApprovalRecord | None:
    events = codec.from_json(body for _, body in rows)
    return approval_record(rows[0][0], events) if rows else None
