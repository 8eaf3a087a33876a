"""The claim of the one bot that works with a database.

It is an operating-system lock on a file beside the database: when the process ends, however it
ends, the system gives it back. What the file says is for people only, and old text means nothing.
Sessions have leases of their own, so that other programs may use the database at the same time.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bot.errors import ConfigError, StorageError
from bot.storage.private import make_folder


@contextlib.contextmanager
def claimed(database: Path) -> Iterator[None]:
    """Be the one bot of a database while the block lasts.

    Raises:
        ConfigError: if another process is; names it.
        StorageError: if no lock can be held beside the database.
    """
    path = _path(database)
    try:
        make_folder(path.parent)
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as exc:
        raise StorageError(f"{path}: {exc.strerror}") from exc
    with _closing(descriptor):
        _lock(descriptor, database)
        _sign(descriptor)
        yield


@contextlib.contextmanager
def unclaimed(database: Path) -> Iterator[None]:
    """See to it that no bot works with a database beside which we cannot make files.

    A bot on another machine, or by another way to the same place, may be able to.

    Raises:
        ConfigError: if one does; names it.
        StorageError: if that cannot be known.
    """
    path = _path(database)
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield
        return
    except OSError as exc:
        raise StorageError(f"{path}: {exc.strerror}") from exc
    with _closing(descriptor):
        _lock(descriptor, database)
        yield


def _path(database: Path) -> Path:
    database = database.resolve()
    return database.with_name(f"{database.name}-bot")


@contextlib.contextmanager
def _closing(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, database: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ConfigError(
            f"another bot works with the database {database.resolve()}: {_signed(descriptor)}. "
            "Stop it first, or set DATABASE to another file."
        ) from None
    except OSError as exc:
        raise StorageError(f"no lock can be held beside {database}: {exc.strerror}") from exc


def _sign(descriptor: int) -> None:
    """Write who we are; on a full disk the lock alone has to do."""
    text = f"process {os.getpid()}, since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)


def _signed(descriptor: int) -> str:
    return os.pread(descriptor, 200, 0).decode(errors="replace") or "it has only just started"
