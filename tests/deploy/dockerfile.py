"""Reading a Dockerfile, as far as ours goes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Step:
    """One instruction, for example `RUN` and a command."""

    name: str
    text: str

    @property
    def words(self) -> Sequence[str]:
        """The words of a command that is written as a list."""
        return [str(each) for each in json.loads(self.text[self.text.index("[") :])]


def stages() -> list[list[Step]]:
    """Return the instructions of our Dockerfile, stage by stage."""
    text = (ROOT / "Dockerfile").read_text()
    lines = [each for each in text.splitlines() if not each.startswith("#")]
    found: list[list[Step]] = []
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, rest = line.partition(" ")
            if name == "FROM":
                found.append([])
            found[-1].append(Step(name, " ".join(rest.split())))
    return found


def one(steps: Sequence[Step], name: str) -> Step:
    """Return the only instruction of this name."""
    [step] = [each for each in steps if each.name == name]
    return step


def environment(steps: Sequence[Step]) -> dict[str, str]:
    """Return what `ENV` sets."""
    text = one(steps, "ENV").text
    return dict(re.findall(r"(\w+)=(\S+)", text))
