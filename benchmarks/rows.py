"""What a benchmark tells: figures, each beside a floor of the same run, and what is allowed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure.

    Attributes:
        what: What was measured.
        unit: Of both figures.
        floor: What the same costs with nothing of ours.
        of: What the floor is.
        ours: What it costs with us.
        limit: What ours may be at most.
        goal: The limit in words.
    """

    what: str
    unit: str
    floor: float
    of: str
    ours: float
    limit: float
    goal: str

    @property
    def ok(self) -> bool:
        """Whether the goal is met."""
        return self.ours <= self.limit

    @property
    def missed_by(self) -> float:
        """How far over its limit it is; 0.1 is a tenth."""
        return max(0.0, self.ours / self.limit - 1) if self.limit else self.ours


def times(
    what: str,
    unit: str,
    floor: float,
    ours: float,
    ratio: float,
    of: str,
    scale: float = 1.0,
    at_best: float = 0.0,
) -> Row:
    """Return a row that may be so many times its floor.

    Args:
        what: What was measured.
        unit: Of what is shown.
        floor: What the same costs with nothing of ours.
        ours: What it costs with us.
        ratio: How many times the floor it may be.
        of: What the floor is.
        scale: Makes the unit of what was measured, of seconds for example.
        at_best: What it may be in any case: the goal as it was set, on a machine at rest.
    """
    return Row(
        what=what,
        unit=unit,
        floor=floor * scale,
        of=of,
        ours=ours * scale,
        limit=max(floor * scale * ratio, at_best),
        goal=f"≤ {ratio:.3g} x floor" + (f" or {at_best:g}" if at_best else ""),
    )


def plus(
    what: str, unit: str, floor: float, ours: float, more: float, of: str, scale: float = 1.0
) -> Row:
    """Return a row that may be so much more than its floor."""
    return Row(
        what=what,
        unit=unit,
        floor=floor * scale,
        of=of,
        ours=ours * scale,
        limit=floor * scale + more,
        goal=f"≤ floor + {more:g}",
    )


def below(
    what: str, unit: str, floor: float, ours: float, limit: float, of: str, scale: float = 1.0
) -> Row:
    """Return a row that may be so much, whatever the floor."""
    return Row(
        what=what,
        unit=unit,
        floor=floor * scale,
        of=of,
        ours=ours * scale,
        limit=limit,
        goal=f"≤ {limit:g}",
    )


def median(figures: Sequence[float]) -> float:
    """Return the middle one of the quicker half: what else the machine does only adds."""
    return statistics.median(sorted(figures)[: (len(figures) + 1) // 2])


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table in Markdown."""
    head = "| what | unit | floor | of | ours | ratio | goal | |\n|---|---|--:|---|--:|--:|---|---|"
    return "\n".join([head, *map(_line, rows)])


def _line(row: Row) -> str:
    ratio = f"{row.ours / row.floor:.2f}" if row.floor > 0 else "-"
    verdict = "met" if row.ok else f"**missed by {row.missed_by:.0%}**"
    cells = (
        row.what,
        row.unit,
        _told(row.floor),
        row.of,
        _told(row.ours),
        ratio,
        row.goal,
        verdict,
    )
    return f"| {' | '.join(cells)} |"


def _told(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"
