"""Disks that tests may fill, where that is allowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(folder: Path, size: str = "2m") -> Iterator[Path]:
    """Give a small disk of its own, if one may be mounted here."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if not _may_mount() or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S607


@contextmanager
def bound(folder: Path, other: Path) -> Iterator[Path]:
    """Give a mounted disk a second place, where it cannot be written."""
    other.mkdir()
    subprocess.run(["mount", "--bind", str(folder), str(other)], check=True)  # noqa: S607
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(other)], check=True)  # noqa: S607
        yield other
    finally:
        subprocess.run(["umount", "--lazy", str(other)], check=True)  # noqa: S607


def remount(folder: Path, how: str) -> None:
    """Make a mounted disk read-only (ro), or not (rw)."""
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)  # noqa: S607


def fill(folder: Path) -> Path:
    """Leave no room on a disk; return the file that takes it."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            return filler


def _may_mount() -> bool:
    return sys.platform == "linux" and os.geteuid() == 0 and shutil.which("mount") is not None
