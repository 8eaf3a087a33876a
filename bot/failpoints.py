"""Points at which a test can end the process, as a power cut would.

Everything that Parley promises about a crash - nothing is lost, nothing happens twice - is a
promise about the moments between two steps: before and after a commit, a message sent, a tool
run. Each of them is named in the code by `reach` or `around`, and the crash tests go to every one.

It does nothing unless the process was started with a folder to be watched from, which only tests
do (`bot.config.failpoints_folder`). Then every point that is reached is appended as a line
to the file `reached` in it, and the process kills itself, without any clean-up, when it reaches
the point that the file `kill` there names: "NAME N" is the N-th time since the start that this
point is reached, "* N" the N-th point of all.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock


class _Watched:
    """Notes each point, and ends the process at one."""

    def __init__(self, folder: Path) -> None:
        self._kill = folder / "kill"
        self._reached = os.open(folder / "reached", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._counts: Counter[str] = Counter()
        self._lock = Lock()  # the database's thread reaches points too

    def __call__(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1
            here = f"{name} {self._counts[name]}"
            os.write(self._reached, f"{here}\n".encode())
            wanted = (here, f"* {self._counts.total()}")
            if self._kill.exists() and self._kill.read_text() in wanted:
                os.kill(os.getpid(), signal.SIGKILL)
                signal.pause()  # nothing more is done here until the signal has arrived


# The one global of the package: a point must cost nothing, wherever in the code it is.
_watched: _Watched | None = None


def watch(folder: Path) -> None:
    """From now on note every point in this folder, and be killed from there."""
    global _watched
    _watched = _Watched(folder)


def reach(name: str) -> None:
    """Say that this point was reached."""
    if _watched is not None:
        _watched(name)


@contextmanager
def around(name: str) -> Iterator[None]:
    """Reach a point before a step, and one after it if it succeeds."""
    reach(f"{name}.before")
    yield
    reach(f"{name}.after")
