"""Copying a database while others write it.

The copy is of one moment: a reading transaction keeps that moment visible, while writers go on. It
is made in a file beside the target, checked, and only then takes the target's place.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from bot.errors import StorageError

PAGES = 1000
"""How many pages are copied at a time; Ctrl-C is heard in between."""
BUSY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied."""

    sessions: int
    size: int


def back_up(database: Path, target: Path, *, overwrite: bool = False) -> Copied:
    """Copy a database to a file, check the copy, and return what is in it.

    Raises:
        StorageError: if there is no database, or a target that is not to be overwritten, or
            something cannot be read or written; the target is then as it was.
    """
    _check(database, target, overwrite=overwrite)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _told(database, target):
            copied = _copy(database, partial)
            _keep(partial, target)
    finally:
        partial.unlink(missing_ok=True)
        partial.with_name(f"{partial.name}-journal").unlink(missing_ok=True)
    return copied


def _check(database: Path, target: Path, *, overwrite: bool) -> None:
    if not database.is_file():
        raise StorageError(f"there is no database {database}")
    if target.is_dir():
        raise StorageError(f"{target} is a directory; name a file")
    if target.exists():
        if target.samefile(database):
            raise StorageError(f"{target} is the database itself")
        if not overwrite:
            raise StorageError(f"{target} exists; --force overwrites it")


@contextmanager
def _told(database: Path, target: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as exc:
        raise StorageError(f"{database} cannot be copied to {target}: {exc}") from exc


def _copy(database: Path, partial: Path) -> Copied:
    partial.touch(mode=0o600, exist_ok=False)
    with closing(_connection(database)) as source, closing(_connection(partial)) as copy:
        # With its own transaction the copying would begin anew whenever somebody writes.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        source.backup(copy, pages=PAGES, progress=lambda *_: None)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without others beside it
        found = copy.execute("PRAGMA integrity_check").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(f"the copy is damaged: {found}")
        sessions = copy.execute("SELECT count(*) FROM sessions").fetchone()[0]
    return Copied(sessions, partial.stat().st_size)


def _connection(path: Path) -> sqlite3.Connection:
    """Open a file that is there."""
    uri = f"file:{quote(str(path.absolute()))}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)


def _keep(partial: Path, target: Path) -> None:
    """Let the copy take the target's place, for good; who may read it stays as it was."""
    if target.exists():
        shutil.copymode(target, partial)
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    partial.replace(target)
    directory = os.open(target.absolute().parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
