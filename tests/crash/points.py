"""The points that a watched bot reaches, and the one at which it is to die (`bot.failpoints`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ANY = "*"
BEGUN, DONE = "recovery.before", "recovery.after"


@dataclass(frozen=True, order=True)
class Point:
    """The n-th time that a point is reached, or that any is, counted from some moment."""

    name: str
    number: int

    def __str__(self) -> str:
        return f"{self.name} {self.number}"


class Points:
    """The folder that a bot is watched through."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self._reached, self._kill = folder / "reached", folder / "kill"
        self._names: list[str] = []
        self._read = 0

    def reached(self) -> list[str]:
        """Return the names of all points since the process began, in their order."""
        if self._reached.exists():
            with self._reached.open("rb") as file:
                file.seek(self._read)
                whole = file.read().rpartition(b"\n")[0]
            self._read += len(whole) + bool(whole)
            self._names += [line.rpartition(" ")[0] for line in whole.decode().splitlines()]
        return self._names

    def since(self, start: int) -> list[Point]:
        """Return the points after the first `start` ones, each with its number from there on."""
        counts: Counter[str] = Counter()
        found = []
        for name in self.reached()[start:]:
            counts[name] += 1
            found.append(Point(name, counts[name]))
        return found

    def arm(self, point: Point) -> None:
        """Let the bot die when it reaches a point, counted from now."""
        reached = self.reached()
        already = len(reached) if point.name == ANY else Counter(reached)[point.name]
        armed = self.folder / "kill.new"
        armed.write_text(f"{point.name} {already + point.number}")
        armed.rename(self._kill)

    def begin(self, point: Point | None = None) -> None:
        """Forget what was reached: a new process begins, which may be to die at a point."""
        self._reached.unlink(missing_ok=True)
        self._names, self._read = [], 0
        self._kill.unlink(missing_ok=True)
        if point is not None:
            self.arm(point)

    def disarm(self) -> None:
        """Let the bot live."""
        self._kill.unlink(missing_ok=True)

    @property
    def has_started(self) -> bool:
        """Whether the process goes on with what was left open."""
        return BEGUN in self.reached()

    @property
    def has_recovered(self) -> bool:
        """Whether the process is through with what was left open."""
        return DONE in self.reached()
