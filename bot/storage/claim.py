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


@contextlib.contextmanager
def claimed(database: Path) -> Iterator[None]:
    """Be the one bot of a database while the block lasts.

    Raises:
        ConfigError: if another process is; names it.
        StorageError: if no lock can be held beside the database.
    """
    database = database.resolve()
    path = database.with_name(f"{database.name}-bot")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as exc:
        raise StorageError(f"{path}: {exc.strerror}") from exc
    try:
        _lock(descriptor, database)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, database: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ConfigError(
            f"another bot works with the database {database}: {_signed(descriptor)}. "
            "Stop it first, or set DATABASE to another file."
        ) from None
    except OSError as exc:
        raise StorageError(f"no lock can be held beside {database}: {exc.strerror}") from exc
    _sign(descriptor)


def _sign(descriptor: int) -> None:
    """Write who we are; on a full disk the lock alone has to do."""
    text = f"process {os.getpid()}, since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)


def _signed(descriptor: int) -> str:
    return os.pread(descriptor, 200, 0).decode(errors="replace") or "it has only just started"
