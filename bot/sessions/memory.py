"""Sessions in memory: gone with the process, otherwise like those in a file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from bot.errors import SessionConflictError, SessionExistsError
from bot.events import RecordedEvent, new_id
from bot.sessions.erasing import (
    check_closed,
    erasure,
    files_of,
    quoted_by,
    unquoted,
    written_by,
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
    refusal,
)
from bot.sessions.stored import StoredBlobs, StoredSession


class InMemorySessionManager(SessionStore):
    """Keeps sessions in memory; `get` returns independent copies, as a database would."""

    def __init__(self) -> None:
        self._sessions: dict[str, StoredSession] = {}
        self._keys: dict[str, tuple[str, RecordedEvent]] = {}
        self._blobs = StoredBlobs()
        self._holders: set[str] = set()

    async def initialize(self) -> None:
        """Do nothing: there is nothing to open."""

    async def close(self) -> None:
        """End the holders; the sessions stay for as long as this object does."""
        self._holders.clear()

    # -- the four methods --------------------------------------------------------------------------

    async def create(self, session_id: str, user_id: str | None = None) -> Session:
        """Make and store an empty session."""
        session = Session(session_id, user_id)
        if session_id in self._sessions:
            raise SessionExistsError(session_id)
        self._store(session, session.state_json())
        return session

    async def get(self, session_id: str) -> Session | None:
        """Return the session, or `None` only when there is none."""
        stored = self._sessions.get(check_session_id(session_id))
        return stored.restored() if stored else None

    async def save(
        self, session: Session, *, release: str | None = None, rests: bool = False
    ) -> None:
        """Store what is not stored yet; in the same step give back `release`'s lease."""
        state = session.state_json()
        stored = self._sessions.get(session.session_id)
        released = stored is not None and release is not None and stored.holder == release
        if not session.changed(state) and not released:
            return
        self._check(session, stored)
        self._store(session, state)
        if released:
            self._sessions[session.session_id].holder = None

    async def save_taking(self, session: Session, holder: str) -> bool:
        """Do as `save` does, and in the same step take the lease, if nobody holds it."""
        await self.save(session)
        stored = self._sessions[session.session_id]
        stored.holder = stored.holder or holder
        return stored.holder == holder

    def _check(self, session: Session, stored: StoredSession | None) -> None:
        version, created_at = (
            (0, session.created_at) if stored is None else (stored.version, stored.created_at)
        )
        if (version, created_at) != (session.version, session.created_at):
            raise SessionConflictError(session.session_id)
        new: set[str] = set()
        for event in session.unsaved:
            key = event.natural_key
            if key is not None and (key in self._keys or key in new):
                raise refusal(session.session_id, event)
            new.add(key or "")

    def _store(self, session: Session, state: str) -> None:
        session_id = session.session_id
        stored = self._sessions.setdefault(
            session_id,
            StoredSession(
                session_id=session_id,
                user_id=session.user_id,
                created_at=session.created_at,
                updated_at=session.updated_at,
            ),
        )
        stored.take(session, state)
        self._keys.update(
            (key, (session_id, event)) for event in session.unsaved if (key := event.natural_key)
        )
        session.mark_saved(seq=session.last_seq, version=stored.version, state=state)

    # -- the lease ---------------------------------------------------------------------------------

    async def register(self) -> str:
        """Return a new holder's id; it lives until `close`."""
        holder = new_id("holder")
        self._holders.add(holder)
        return holder

    async def lease(self, session_id: str, holder: str) -> Lease:
        """Take the session's lease for `holder` if it is free, its own, or a dead holder's.

        For a session that is not there it is not taken, and the version is 0.
        """
        stored = self._sessions.get(session_id)
        if stored is None:
            return Lease(taken=False, version=0, holder="")
        if stored.holder not in (None, holder) and stored.holder in self._holders:
            return Lease(taken=False, version=stored.version, holder=stored.holder)
        cut_off = stored.holder not in (None, holder)
        stored.holder = holder
        return Lease(taken=True, version=stored.version, holder=holder, interrupted=cut_off)

    async def standing(self, session_id: str) -> Standing | None:
        """Return how a session stands now, `None` if there is none."""
        stored = self._sessions.get(session_id)
        if stored is None:
            return None
        return Standing(version=stored.version, holder=stored.holder)

    # -- reading -----------------------------------------------------------------------------------

    async def list_sessions(
        self, user_id: str, *, limit: int = 50, before: datetime | None = None
    ) -> Sequence[SessionInfo]:
        """Return a user's sessions, the latest updated first, one page before a time.

        Sessions updated at the very time at which a page ends are all on it.
        """
        found = [
            stored.info
            for _, stored in sorted(self._sessions.items())
            if stored.user_id == user_id and (before is None or stored.updated_at < before)
        ]
        found.sort(key=lambda info: info.updated_at, reverse=True)
        return [info for info in found if info.updated_at >= found[:limit][-1].updated_at]

    async def open_sessions(self, *, after: str = "", limit: int = 500) -> Sequence[str]:
        """Return ids of sessions with open turns, in the order of ids, those after `after`."""
        ids = (key for key, stored in self._sessions.items() if stored.open_turns and key > after)
        return sorted(ids)[:limit]

    async def read_log(
        self, session_id: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[RecordedEvent]:
        """Return one page of the whole log, what lies before the window included."""
        stored = self._sessions.get(check_session_id(session_id))
        return stored.log[after : after + limit] if stored else []

    async def find_approval(self, approval_id: str) -> ApprovalRecord | None:
        """Return an approval by its id, in whatever session, in the window or not."""
        request = self._keys.get(f"request:{approval_id}")
        if request is None:
            return None
        session_id, event = request
        decision = self._keys.get(f"decision:{approval_id}")
        return approval_record(session_id, [event, *([decision[1]] if decision else [])])

    async def sessions_after(self, after: str = "", *, limit: int = 500) -> Sequence[SessionInfo]:
        """Return all sessions in the order of their ids, one page after an id."""
        ids = sorted(session_id for session_id in self._sessions if session_id > after)
        return [self._sessions[each].info for each in ids[:limit]]

    # -- whose it is, and forgetting ---------------------------------------------------------------

    async def written_by(
        self, user_id: str, *, limit: int = 50, before: datetime | None = None
    ) -> Sequence[Written]:
        """Return where somebody wrote, the latest first, one page before a time."""
        found: list[Written] = []
        for session_id, stored in sorted(self._sessions.items()):
            times = [each.at for each in stored.messages_of(user_id)]
            if times and (before is None or max(times) < before):
                found.append(
                    Written(session_id=session_id, last_at=max(times), messages=len(times))
                )
        found.sort(key=lambda each: each.last_at, reverse=True)
        return [each for each in found if each.last_at >= found[:limit][-1].last_at]

    async def authors(self, session_id: str) -> Mapping[str, int]:
        """Return who wrote in a session, and how many messages."""
        stored = self._sessions.get(session_id)
        return written_by(stored.log) if stored else {}

    async def turns_of(self, session_id: str, user_id: str) -> Sequence[str]:
        """Return the turns in which somebody wrote, oldest first."""
        stored = self._sessions.get(session_id)
        theirs = stored.messages_of(user_id) if stored else []
        return tuple(dict.fromkeys(message.turn_id for message in theirs))

    async def erase(self, session: Session, turn_ids: Collection[str] | None) -> None:
        """Erase the content of some turns in place, or of all and the state; `session` is old then.

        Raises:
            SessionConflictError: if the session has changed since it was read.
            ValueError: if one of the turns is open.
        """
        check_closed(session, turn_ids)
        stored = self._sessions.get(session.session_id)
        if stored is None:
            raise SessionConflictError(session.session_id)
        self._check(session, stored)
        todo = erasure(stored.log, turn_ids)
        self._put_instead(stored, todo.instead)
        stored.state = "{}" if turn_ids is None else stored.state
        self._blobs.drop(self._sessions.values(), todo.blobs)

    async def quoting(self, user_id: str) -> Sequence[str]:
        """Return ids of sessions in which messages quote somebody, in their order."""
        return sorted(
            session_id
            for session_id, stored in self._sessions.items()
            if any(user_id in quoted_by(event) for event in stored.log)
        )

    async def unquote(self, session: Session, user_id: str) -> None:
        """Erase what messages of a session quote of somebody in place; `session` is old then.

        Raises:
            SessionConflictError: if the session has changed since it was read.
        """
        stored = self._sessions.get(session.session_id)
        if stored is None:
            raise SessionConflictError(session.session_id)
        self._check(session, stored)
        self._put_instead(stored, unquoted(stored.log, user_id))

    def _put_instead(self, stored: StoredSession, events: Sequence[RecordedEvent]) -> None:
        for event in events:
            key = stored.log[event.seq - 1].natural_key
            stored.log[event.seq - 1] = event
            if key is not None:
                self._keys[key] = (stored.session_id, event)
        stored.version += 1
        stored.erasures += 1

    async def forget_user(self, user_id: str) -> None:
        """Forget for whom sessions were made, where it was for this user."""
        for stored in self._sessions.values():
            stored.user_id = None if stored.user_id == user_id else stored.user_id

    async def delete(self, session_id: str, *, idle_since: datetime | None = None) -> bool:
        """Forget a session, its log and bytes that only it refers to; return whether it did."""
        stored = self._sessions.get(session_id)
        if stored is None:
            return False
        if idle_since is not None and (stored.open_turns or stored.updated_at > idle_since):
            return False
        del self._sessions[session_id]
        self._keys = {key: each for key, each in self._keys.items() if each[0] != session_id}
        files = (file for event in stored.log for file in files_of(event))
        used = dict.fromkeys((file.sha256 for file in files), stored.updated_at)
        self._blobs.drop(self._sessions.values(), used)
        return True

    async def purge(self) -> None:
        """Do nothing: what is forgotten is gone."""

    # -- blobs -------------------------------------------------------------------------------------

    async def put_blob(self, data: bytes) -> str:
        """Store bytes once; return their SHA-256 in hexadecimal."""
        return self._blobs.put(data)

    async def get_blob(self, sha256: str) -> bytes | None:
        """Return stored bytes, or `None`."""
        return self._blobs.get(sha256)

    async def drop_blobs(self, before: datetime) -> None:
        """Forget bytes handed in before a time to which nothing refers."""
        self._blobs.drop_all(self._sessions.values(), before)
