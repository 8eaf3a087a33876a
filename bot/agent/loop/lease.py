"""The lease of a session: which one process runs it."""

from __future__ import annotations

from bot.agent.loop.interrupts import finished
from bot.agent.loop.working_copy import WorkingCopy
from bot.errors import SessionConflictError
from bot.sessions import Lease, SessionStore


class SessionLease:
    """Takes a session's lease and gives it back, where the session manager knows leases."""

    def __init__(self, copy: WorkingCopy) -> None:
        self._copy = copy

    @property
    def is_held(self) -> bool:
        """Whether we hold the lease, where there are leases."""
        return self._copy.holder is not None or not isinstance(self._copy.manager, SessionStore)

    async def is_elsewhere(self) -> bool:
        """Return whether another living process holds the lease."""
        manager = self._copy.manager
        if self._copy.holder is not None or not isinstance(manager, SessionStore):
            return False
        return await manager.is_run_elsewhere(self._copy.session_id)

    async def take(self, holder: str) -> Lease | None:
        """Become the one process that runs this session; return `None` if another is.

        Where the session manager knows no leases nobody else is.
        """
        manager = self._copy.manager
        if not isinstance(manager, SessionStore) or self._copy.holder is not None:
            return Lease(taken=True, version=self._copy.session.version, holder=holder)
        lease = await finished(self._take(manager, holder))
        return lease if lease.taken else None

    async def _take(self, store: SessionStore, holder: str) -> Lease:
        copy = self._copy
        async with copy.lock:
            lease = await store.lease(copy.session_id, holder)
            if lease.taken:
                copy.holder = holder
            if lease.version != copy.session.version:
                copy.outdate()
                await copy.read()
            return lease

    async def give_back(self) -> bool:
        """Give the lease back, if we hold it and the log has not moved; return whether we do not.

        Most often the save that closed the last turn, or began the wait, has done it already.
        """
        copy = self._copy
        if copy.holder is None:
            return True
        async with copy.lock:
            draft = copy.session.draft()
            try:
                await copy.save(draft)
            except SessionConflictError:
                await copy.read()
            else:
                copy.become(draft, ())
            return copy.holder is None
