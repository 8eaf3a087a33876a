"""Holders: a process lives, for the others, as long as it holds an operating-system lock.

Each holder is a locked file. When its process ends, however it ends, the system gives the lock
back, and whoever can take it knows. No clock is asked. All of this runs inside transactions that
write, so that only one process at a time tries a lock.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from bot.errors import StorageError
from bot.events import new_id


class Holders:
    """The holders of one database, in a directory beside it.

    Not for directories on network shares whose locks do not reach other machines.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._ours: dict[str, int] = {}

    def register(self) -> str:
        """Return the id of a new holder that lives until `close`; clear away dead ones."""
        holder = new_id("holder")
        try:
            self._directory.mkdir(exist_ok=True)
            for path in self._directory.iterdir():
                self.is_alive(path.name)
            descriptor = os.open(self._directory / holder, os.O_CREAT | os.O_EXCL | os.O_RDWR)
            self._ours[holder] = descriptor
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            raise StorageError(f"no lock can be held in {self._directory}: {exc}") from exc
        return holder

    def is_alive(self, holder: str) -> bool:
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

    def close(self) -> None:
        """End every holder registered here."""
        for holder, descriptor in self._ours.items():
            (self._directory / holder).unlink(missing_ok=True)
            os.close(descriptor)
        self._ours.clear()
