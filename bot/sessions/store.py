"""What the bot needs of a session manager beyond the four methods."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime

from bot.errors import DuplicateMessageError, SessionConflictError
from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    RecordedEvent,
    UserMessageEvent,
)
from bot.sessions.manager import SessionManager
from bot.sessions.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """A session without its events."""

    session_id: str
    user_id: str | None
    created_at: datetime
    updated_at: datetime
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A session in which somebody wrote: when they last did, and how many messages."""

    session_id: str
    last_at: datetime
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The answer to a request for a lease.

    Attributes:
        taken: Whether the asker holds it now.
        version: The session's stored version at that moment.
        holder: Who holds it.
        interrupted: Whether its last holder did not give it back: a run was cut off.
    """

    taken: bool
    version: int
    holder: str
    interrupted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a session stands in the store: its version, and who holds its lease."""

    version: int
    holder: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRecord:
    """An approval as found in a store: which session, the request, the decision if any."""

    session_id: str
    request: ApprovalRequestedEvent
    decision: ApprovalDecidedEvent | None


class SessionStore(SessionManager):
    """A session manager with leases, listings, the whole log, and blobs.

    Attributes:
        is_shared: Whether other processes may use the same sessions.
    """

    is_shared = False

    @abstractmethod
    async def initialize(self) -> None:
        """Open what is needed; every other method does it when first used."""

    @abstractmethod
    async def close(self) -> None:
        """Close everything; used again, the store opens again. Holders registered here end."""

    @abstractmethod
    async def save(
        self, session: Session, *, release: str | None = None, rests: bool = False
    ) -> None:
        """Store what is not stored yet; in the same commit give back `release`'s lease.

        With `rests` nothing is to be done in the session, as it is stored then, until somebody
        decides or writes: a start need not look for it.
        """

    @abstractmethod
    async def save_taking(self, session: Session, holder: str) -> bool:
        """Do as `save` does, and in the same commit take the lease, if nobody holds it.

        Returns whether `holder` has it then.
        """

    # -- the lease: who runs a session -------------------------------------------------------------

    @abstractmethod
    async def register(self) -> str:
        """Return a new holder's id; it lives until `close` or the end of the process."""

    @abstractmethod
    async def lease(self, session_id: str, holder: str) -> Lease:
        """Take the session's lease for `holder` if it is free, its own, or a dead holder's."""

    @abstractmethod
    async def standing(self, session_id: str) -> Standing | None:
        """Return how a session stands now, `None` if there is none."""

    async def is_run_elsewhere(self, session_id: str) -> bool:
        """Return whether another living process holds a session's lease; where there is one."""
        return False

    def hearing(self, session_id: str) -> AbstractContextManager[asyncio.Event]:
        """Give an event that is set when another process has recorded something in a session.

        It is for a session that is run here, and is set as soon as can be. Whether it ever is
        depends on the store: to look again after a while is useful anyway.
        """
        return nullcontext(asyncio.Event())

    # -- reading -----------------------------------------------------------------------------------

    @abstractmethod
    async def list_sessions(
        self, user_id: str, *, limit: int = 50, before: datetime | None = None
    ) -> Sequence[SessionInfo]:
        """Return a user's sessions, the latest updated first, one page before a time."""

    @abstractmethod
    async def open_sessions(self, *, after: str = "", limit: int = 500) -> Sequence[str]:
        """Return ids of sessions with open turns, in the order of ids, those after `after`."""

    @abstractmethod
    async def read_log(
        self, session_id: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[RecordedEvent]:
        """Return one page of the whole log, what lies before the window included."""

    @abstractmethod
    async def find_approval(self, approval_id: str) -> ApprovalRecord | None:
        """Return an approval by its id, in whatever session, in the window or not."""

    @abstractmethod
    async def sessions_after(self, after: str = "", *, limit: int = 500) -> Sequence[SessionInfo]:
        """Return all sessions in the order of their ids, one page after an id."""

    # -- whose it is, and forgetting ---------------------------------------------------------------

    @abstractmethod
    async def written_by(
        self, user_id: str, *, limit: int = 50, before: datetime | None = None
    ) -> Sequence[Written]:
        """Return where somebody wrote, the latest first, one page before a time.

        Sessions in which they wrote at the very time at which a page ends are all on it.
        """

    @abstractmethod
    async def authors(self, session_id: str) -> Mapping[str, int]:
        """Return who wrote in a session, and how many messages."""

    @abstractmethod
    async def turns_of(self, session_id: str, user_id: str) -> Sequence[str]:
        """Return the turns in which somebody wrote, oldest first."""

    @abstractmethod
    async def erase(self, session: Session, turn_ids: Collection[str] | None) -> None:
        """Erase the content of some turns in place, or of all and the state; `session` is old then.

        Numbers, kinds, times and natural keys stay: what is known is not answered anew. Summaries
        that may cover the turns lose their text; what people see of them, and bytes that nothing
        else refers to, are noted no more.

        Raises:
            SessionConflictError: if the session has changed since it was read.
            ValueError: if one of the turns is open.
        """

    @abstractmethod
    async def quoting(self, user_id: str) -> Sequence[str]:
        """Return ids of sessions in which messages quote somebody, in their order."""

    @abstractmethod
    async def unquote(self, session: Session, user_id: str) -> None:
        """Erase what messages of a session quote of somebody in place; `session` is old then.

        Summaries that may cover it lose their text.

        Raises:
            SessionConflictError: if the session has changed since it was read.
        """

    @abstractmethod
    async def forget_user(self, user_id: str) -> None:
        """Forget for whom sessions were made, where it was for this user."""

    @abstractmethod
    async def delete(self, session_id: str, *, idle_since: datetime | None = None) -> bool:
        """Forget a session, its log and bytes that only it refers to; return whether it did.

        With `idle_since` only if nothing is open, and nothing was recorded after that time.
        """

    @abstractmethod
    async def purge(self) -> None:
        """Let nothing that was forgotten be left in the database's files, if that can be done.

        Raises:
            StorageError: if it could not be done now; to ask again later is useful.
        """

    # -- blobs -------------------------------------------------------------------------------------

    @abstractmethod
    async def put_blob(self, data: bytes) -> str:
        """Store bytes once; return their SHA-256 in hexadecimal."""

    @abstractmethod
    async def drop_blobs(self, before: datetime) -> None:
        """Forget bytes handed in before a time to which nothing refers."""

    @abstractmethod
    async def get_blob(self, sha256: str) -> bytes | None:
        """Return stored bytes, or `None`."""


def refusal(session_id: str, event: RecordedEvent) -> SessionConflictError | DuplicateMessageError:
    """Return why an event is refused whose natural key is in the store already.

    Of a message `DuplicateMessageError`, which names its `source_id`; of a start, result, request
    or decision `SessionConflictError`.
    """
    if isinstance(event, UserMessageEvent) and event.source_id:
        return DuplicateMessageError(event.source_id)
    return SessionConflictError(session_id)


def approval_record(session_id: str, events: Sequence[RecordedEvent]) -> ApprovalRecord | None:
    """Return the approval that these events, its request and its decision, tell of."""
    request = next((e for e in events if isinstance(e, ApprovalRequestedEvent)), None)
    decision = next((e for e in events if isinstance(e, ApprovalDecidedEvent)), None)
    if request is None:
        return None
    return ApprovalRecord(session_id=session_id, request=request, decision=decision)
