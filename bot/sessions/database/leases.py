"""The leases of a database's sessions: which process runs which."""

from __future__ import annotations

from collections.abc import Sequence

from bot.sessions.database.holders import Holders
from bot.sessions.store import Lease, Standing
from bot.storage import Connection, Database

_SELECT_HOLDER = "SELECT version, holder FROM sessions WHERE session_id = ?"

_SELECT_HELD = """
    SELECT session_id, holder FROM sessions
    WHERE open_turns <> '[]' AND holder IS NOT NULL ORDER BY session_id"""

_TAKE_LEASE = """
    UPDATE sessions SET holder = ?, version = ?
    WHERE session_id = ? AND coalesce(holder, '') = ? AND version = ?"""


class Leases:
    """Gives each session to one living holder at a time."""

    def __init__(self, database: Database, holders: Holders) -> None:
        self._database = database
        self._holders = holders

    async def take(self, session_id: str, holder: str) -> Lease:
        """Take the session's lease for `holder` if it is free, its own, or a dead holder's.

        Taken over, the session has a new version: what its former holder, if it is alive after
        all, saves next is a conflict.
        """

        def job(connection: Connection) -> Lease:
            while True:
                row = connection.execute(_SELECT_HOLDER, (session_id,)).fetchone()
                if row is None:
                    return Lease(taken=False, version=0, holder="")
                version, current = row
                others = current not in (None, holder)
                if others and self._holders.is_alive(connection, current):
                    return Lease(taken=False, version=version, holder=current)
                new = version + others
                values = (holder, new, session_id, current or "", version)
                if connection.execute(_TAKE_LEASE, values).rowcount:
                    return Lease(taken=True, version=new, holder=holder, interrupted=others)

        return await self._database.write(job)

    async def standing(self, session_id: str) -> Standing | None:
        """Return how a session stands now, `None` if there is none."""
        rows = await self._database.fetch(_SELECT_HOLDER, (session_id,))
        return Standing(version=rows[0][0], holder=rows[0][1]) if rows else None

    async def is_here(self, session_id: str) -> bool:
        """Return whether a holder of this process holds a session's lease."""
        standing = await self.standing(session_id)
        return bool(standing and standing.holder and self._holders.is_ours(standing.holder))

    async def is_elsewhere(self, session_id: str) -> bool:
        """Return whether another living process holds a session's lease."""
        standing = await self.standing(session_id)
        holder = standing and standing.holder
        if not holder or self._holders.is_ours(holder):
            return False
        return await self._database.write(lambda c: self._holders.is_alive(c, holder))

    async def abandoned(self) -> Sequence[str]:
        """Return ids of sessions with open turns whose holder has ended, in their order."""
        rows = await self._database.fetch(_SELECT_HELD)
        theirs = {holder for _, holder in rows if not self._holders.is_ours(holder)}
        if not theirs:
            return []

        def job(connection: Connection) -> set[str]:
            return {each for each in theirs if not self._holders.is_alive(connection, each)}

        ended = await self._database.write(job)
        return [session_id for session_id, holder in rows if holder in ended]
