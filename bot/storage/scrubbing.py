"""Scrubbing a SQLite file: nothing of what was deleted is left in it, and nobody has to wait.

`secure_delete` zeroes what is deleted. But where SQLite moved rows from one page of a B-tree to
others while they were there, copies are left in the page's unallocated space, between its array
of cell pointers and its cells (https://sqlite.org/fileformat2.html, "B-tree Pages"). `VACUUM`
leaves them out, with writes waiting for as long as all of the file is written twice; this zeroes
them where they are, a few pages at a time.

SQLite never reads that space, so that a cut in the middle does no harm. But nobody may write to
the file at that moment, nor write a page anew that was read before:

- With the lock of writers held and the whole log of writes in the file, nobody has anything to
  write to it.
- Whoever scrubs commits something after it, so that others drop the pages that they have read.

It is a program of its own since a process that closes a file loses all its locks on it, those of
SQLite's connections too.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from io import FileIO
from pathlib import Path
from typing import NoReturn

PAGES = 512
"""How many pages are scrubbed while writers wait: some milliseconds."""

REST, RESTS = 0.01, 3
"""Seconds that writers are given between, and as how many times the last wait at the least."""

AGAIN = 0.05
"""Seconds that readers are given to come to their end."""

MOMENT, TRIES = 0.0005, 200
"""Seconds between two tries to have a lock, and how often one is tried that others wait for."""

HEADER = 100
"""How many bytes of the first page are the file's own."""

INTERIOR, LEAF = (2, 5), (10, 13)
"""What the first byte of a B-tree's page is."""

MOST_PAGES = 0x0200_0000
"""With fewer, no page of another sort begins with these bytes: they begin with a page's number."""


class Scrubber:
    """Scrubs the file of one database, through connections of its own, which it leaves open.

    Args:
        path: The file.
        locked: Seconds for which others may hold its lock.
        read: Seconds for which others may read what was before.

    Raises:
        OSError: if the file cannot be opened.
    """

    def __init__(self, path: Path, *, locked: float, read: float) -> None:
        self._file = FileIO(str(path), "r+")
        self._writer = sqlite3.connect(path, 0, isolation_level=None)
        self._checkpointer = sqlite3.connect(path, 0, isolation_level=None)
        self._locked = locked
        self._patience = read

    def run(self) -> None:
        """Scrub the file; one whose pages do not tell what they are is written anew.

        Raises:
            OSError: if it cannot be written, or others read what was before for too long.
            sqlite3.Error: if its lock is not to be had, or it is damaged.
        """
        self._writer.execute("PRAGMA synchronous = NORMAL")
        self._size: int = self._writer.execute("PRAGMA page_size").fetchone()[0]
        if is_clear(self._writer):
            self._scrub()
            os.fsync(self._file.fileno())
        else:
            self._writer.execute(f"PRAGMA busy_timeout = {int(self._locked * 1000)}")
            self._writer.execute("VACUUM")

    def _scrub(self) -> None:
        first, seen = 0, 1
        while seen:
            self._read(first)  # from the disk, while nobody waits for it
            began = time.monotonic()
            seen = self._scrub_some(first)
            first += seen
            time.sleep(max(REST, RESTS * (time.monotonic() - began)))

    def _scrub_some(self, first: int) -> int:
        """Scrub some pages; return how many, 0 behind the last."""
        self._alone()
        try:
            data = self._read(first)
            count = len(data) // self._size
            if sum([self._scrub_page(first, n, data) for n in range(count)]):
                self._let_others_read_anew()
            return count
        finally:
            self._writer.execute("COMMIT")

    def _alone(self) -> None:
        """Have the lock of writers, with all that was written in the file."""
        deadline = time.monotonic() + self._patience
        while True:
            self._begin()
            if self._everything_in_file():
                return
            self._writer.execute("ROLLBACK")
            if time.monotonic() > deadline:
                raise TimeoutError("others read what was deleted; it is still in the file")
            time.sleep(AGAIN)

    def _begin(self) -> None:
        """Take the lock of writers; SQLite's own waiting leaves a busy one hardly a chance."""
        deadline = time.monotonic() + self._locked
        while True:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as exc:
                if exc.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(MOMENT)
            else:
                return

    def _everything_in_file(self) -> bool:
        """Bring the log of writes into the file, unless others read what was before."""
        checkpoint = "PRAGMA wal_checkpoint(PASSIVE)"
        for _ in range(TRIES):
            busy, written, moved = self._checkpointer.execute(checkpoint).fetchone()
            if not busy:
                return bool(written == moved)
            time.sleep(MOMENT)  # another is bringing it there just now
        return False

    def _scrub_page(self, first: int, number: int, data: bytes) -> bool:
        """Scrub one page of those that were read; return whether anything was there."""
        start = number * self._size
        header = HEADER if first + number == 0 else 0
        space = unallocated(data[start : start + self._size], header)
        if data.count(0, start + space.start, start + space.stop) == len(space):
            return False
        self._file.seek(first * self._size + start + space.start)
        self._file.write(bytes(len(space)))
        return True

    def _let_others_read_anew(self) -> None:
        [version] = self._writer.execute("PRAGMA user_version").fetchone()
        self._writer.execute(f"PRAGMA user_version = {version}")

    def _read(self, first: int) -> bytes:
        self._file.seek(first * self._size)
        return self._file.read(PAGES * self._size)


def unallocated(page: bytes, start: int = 0) -> range:
    """Return where in a page nothing is, none for a page that is not of a B-tree.

    Args:
        page: All of it.
        start: Where its header begins.
    """
    kind = page[start]
    if kind not in INTERIOR + LEAF:
        return range(0)
    cells = int.from_bytes(page[start + 3 : start + 5], "big")
    content = int.from_bytes(page[start + 5 : start + 7], "big") or 65536
    pointers = start + (12 if kind in INTERIOR else 8) + 2 * cells
    if not pointers <= content <= len(page):
        return range(0)
    return range(pointers, content)


def is_clear(connection: sqlite3.Connection) -> bool:
    """Return whether each page of a file tells what it is."""
    [vacuums] = connection.execute("PRAGMA auto_vacuum").fetchone()  # has pages of pointers
    [pages] = connection.execute("PRAGMA page_count").fetchone()
    return not vacuums and pages < MOST_PAGES


def main(path: str, locked: str, read: str) -> NoReturn:
    """Scrub the file that is named; say what went wrong in one line."""
    failed = False
    try:
        scrubber = Scrubber(Path(path), locked=float(locked), read=float(read))
        scrubber.run()
    except (OSError, sqlite3.Error) as exc:
        failed = True
        sys.stderr.write(str(exc))
        sys.stderr.flush()
    # Closes nothing: the last who closes a database deletes its log of writes, and a process that
    # has lost its locks, by reading the file, does not count.
    os._exit(failed)


if __name__ == "__main__":
    main(*sys.argv[1:])
