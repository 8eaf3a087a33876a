"""Holders: a process lives, for the others, as long as it holds a lock.

When the process ends, however it ends, the lock is given back by whoever keeps it, and whoever can
take it knows. No clock is asked.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Protocol

from bot.errors import StorageError
from bot.events import new_id
from bot.storage import Connection
from bot.storage.private import make_folder, opener

_TELL = """
    SELECT pg_notify('parley', session_id) FROM sessions
    WHERE session_id = ? AND holder <> ALL(?)"""

# Tried and given back in one: what is done to a lock stays when its transaction is undone.
# It is shared: only its holder has all of it, ever.
_IS_ALIVE = """
    SELECT CASE WHEN pg_try_advisory_lock_shared(?1) THEN NOT pg_advisory_unlock_shared(?1)
                ELSE true END"""

_END_FORMER = """
    SELECT pg_terminate_backend(pid) FROM pg_locks
    WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND objsubid = 1
      AND classid::bigint = (?1::bigint >> 32) & 4294967295
      AND objid::bigint = ?1::bigint & 4294967295
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND pid <> pg_backend_pid()"""


class Holders(Protocol):
    """The holders of one database. All of it is called in transactions that write."""

    def register(self, connection: Connection) -> str:
        """Return the id of a new holder that lives until `close`."""
        ...

    def is_ours(self, holder: str) -> bool:
        """Return whether it was registered here; may be called from anywhere."""
        ...

    def is_alive(self, connection: Connection, holder: str) -> bool:
        """Return whether a holder's process still runs."""
        ...

    def tell_others(self, connection: Connection, session_id: str) -> None:
        """Let another process that runs a session know that something was recorded in it.

        Where that cannot be done it finds out by itself.
        """
        ...

    def close(self) -> None:
        """End every holder registered here."""
        ...


class FileHolders:
    """Each holder is a locked file in a directory beside the database.

    Only one process at a time tries a lock, since only one at a time writes the database. Not for
    directories on network shares whose locks do not reach other machines.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._ours: dict[str, int] = {}

    def register(self, connection: Connection) -> str:
        """Return the id of a new holder; clear away dead ones."""
        holder = new_id("holder")
        try:
            make_folder(self._directory)
            for path in self._directory.iterdir():
                self.is_alive(connection, path.name)
            descriptor = opener(str(self._directory / holder), os.O_CREAT | os.O_EXCL | os.O_RDWR)
            self._ours[holder] = descriptor
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            raise StorageError(f"no lock can be held in {self._directory}: {exc}") from exc
        return holder

    def is_ours(self, holder: str) -> bool:
        """Return whether it was registered here."""
        return holder in self._ours

    def is_alive(self, connection: Connection, holder: str) -> bool:
        """Return whether a holder's process still runs; a dead one's file is removed."""
        if holder in self._ours:
            return True
        path = self._directory / holder
        try:
            descriptor = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            return False
        except OSError as exc:
            raise StorageError(f"{path}: {exc}") from exc
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            path.unlink(missing_ok=True)
            return False
        finally:
            os.close(descriptor)

    def tell_others(self, connection: Connection, session_id: str) -> None:
        """Do nothing: files have no way to be told."""

    def close(self) -> None:
        """Give every lock back."""
        for holder, descriptor in self._ours.items():
            (self._directory / holder).unlink(missing_ok=True)
            os.close(descriptor)
        self._ours.clear()


class AdvisoryHolders:
    """Each holder is an advisory lock of PostgreSQL, held by the connection that writes.

    A lost connection loses the locks; the one that takes its place takes them again (`again`).
    Meanwhile others may have taken leases over: then the sessions have moved on, and saves by the
    former holder are conflicts.
    """

    def __init__(self) -> None:
        self._ours: set[str] = set()

    def register(self, connection: Connection) -> str:
        """Return the id of a new holder."""
        holder = new_id("holder")
        connection.execute("SELECT pg_advisory_lock(?)", (_lock_of(holder),)).close()
        self._ours.add(holder)
        return holder

    def is_ours(self, holder: str) -> bool:
        """Return whether it was registered here."""
        return holder in self._ours

    def is_alive(self, connection: Connection, holder: str) -> bool:
        """Return whether the connection that registered a holder is there."""
        if holder in self._ours:
            return True
        [alive] = connection.execute(_IS_ALIVE, (_lock_of(holder),)).fetchone()
        return bool(alive)

    def tell_others(self, connection: Connection, session_id: str) -> None:
        """Say the session's id, once it is committed, if another holder has its lease."""
        connection.execute(_TELL, (session_id, list(self._ours))).close()

    def again(self, connection: Connection) -> None:
        """Take our locks on a new connection; the former is ended, if the server still has it."""
        for holder in self._ours:
            connection.execute(_END_FORMER, (_lock_of(holder),)).close()
            connection.execute("SELECT pg_advisory_lock(?)", (_lock_of(holder),)).close()

    def close(self) -> None:
        """Forget our holders: their locks end with the connection."""
        self._ours.clear()


def _lock_of(holder: str) -> int:
    """Return the number of a holder's lock: the 64 bits of its id, as a signed number."""
    number = int(holder.rpartition("-")[2], 16)
    return number - 2**64 if number >= 2**63 else number
