"""Files and folders that only whoever runs us may read; what is there already is left as it is."""

from __future__ import annotations

import os
from pathlib import Path

FILE, FOLDER = 0o600, 0o700


def make_private(path: Path) -> bool:
    """Make an empty file, and the folders it is in; return whether there was none.

    SQLite gives the files that it makes beside a database the mode of the database.
    """
    make_folder(path.parent)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE))
    except FileExistsError:
        return False
    return True


def make_folder(path: Path) -> None:
    """Make a folder, and those it is in."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(FOLDER, exist_ok=True)


def opener(path: str, flags: int) -> int:
    """Open a file as `open` does, but a new one for nobody else."""
    return os.open(path, flags, FILE)
