"""The answers of the gallery: those that are written down, and those that are long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

WRITTEN = Path(__file__).parent / "answers"

_CODE = "".join(
    f"def step_{number}(log: list[int]) -> int:\n    total = sum(log[:{number}])\n"
    f'    return total if total else {number}  # "line {number * 3}"\n'
    for number in range(1, 101)
)
_DIGITS = "0123456789" * 500
_WORDS = "The keeper counted ships, wrote a line for each of them, and rubbed none of them out. "
_CHAPTERS = "\n\n".join(
    f"## Chapter {number}\n\n{_WORDS * 6}\n\n- one *light*\n- two **lamps**\n\n{_WORDS * 5}"
    for number in range(1, 61)
)

LONG: Mapping[str, str] = {
    "08-300-lines-of-code": f"All of it:\n\n```python\n{_CODE}```\n\nThat was all.",
    "09-one-line-of-5000": f'Before it.\n\n```json\n{{"data": "{_DIGITS}"}}\n```\nAfter.',
    "24-60000-characters": f"# The log\n\n{_CHAPTERS}\n\nThe end.".ljust(60_000, "."),
    "34-no-blanks": "iVBORw0KGgoAAAANSUhEUgAA" * 180,
    "37-a-long-table": "| Day | Ships | Light |\n|---|--:|---|\n"
    + "".join(f"| {day} | {day * 7 % 13} | {'on' if day % 3 else 'off'} |\n" for day in range(150)),
    "38-deep-code": "A tree, which is cut where lines begin with blanks:\n\n```yaml\nroot:\n"
    + "".join(f"{'  ' * (1 + n % 12)}level_{n}: {n}\n" for n in range(200))
    + "```",
}
"""Answers that are long, and would be dull to read as files."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """An answer that is hard to show.

    Attributes:
        name: Of its channel; it begins with a number.
        text: As the model writes it.
    """

    name: str
    text: str

    @property
    def question(self) -> str:
        """What it answers; no two are the same."""
        return f"Show me: {self.name[3:].replace('-', ' ')}"


def exhibits() -> list[Exhibit]:
    """Return all of them, in their order."""
    texts = {**dict(_written()), **LONG}
    return [Exhibit(name, texts[name]) for name in sorted(texts)]


def _written() -> Iterator[tuple[str, str]]:
    for path in WRITTEN.glob("*.md"):
        yield path.stem, path.read_bytes().decode()  # as bytes, since some line ends are CRLF
