"""How much of each room the tests reach: `make test check COVERAGE=yes`."""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import coverage
import pytest
from coverage.exceptions import NoDataError

WHOLE = {"agent", "sessions"}
REST = 90.0
IN_CHILDREN = "COVERAGE_PROCESS_CONFIG"
"""Where coverage.py tells other processes how they are measured."""


def main() -> int:
    """Print each room's share, and what is missed in one that has too little."""
    try:
        found = measured()
    except NoDataError:
        sys.stdout.write("Nothing was measured here: run `make test COVERAGE=yes` first.\n")
        return 1
    poor: list[tuple[str, Any]] = []
    for room, files in sorted(by_room(found).items()):
        share, wanted = share_of(files), 100.0 if room in WHOLE else REST
        verdict = "ok  " if share >= wanted else "FAIL"
        sys.stdout.write(f"{verdict}  {room:<12} {share:6.2f} % of {wanted:g} %\n")
        poor += files.items() if share < wanted else []
    for name, file in poor:
        if missed := missed_in(file):
            sys.stdout.write(f"      {name}: {missed}\n")
    return 1 if poor else 0


def measured() -> dict[str, Any]:
    """Combine what all processes of the tests have measured, and return it by file."""
    data = coverage.Coverage()
    data.load()  # what is combined then is added
    if list(Path().glob(".coverage.*")):
        data.combine(keep=False)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        data.json_report(outfile=str(report))
        files: dict[str, Any] = json.loads(report.read_text())["files"]
    return files


@contextmanager
def unmeasured(file: Path) -> Iterator[None]:
    """While the block lasts, measure nothing here or in new processes, if this file is left out."""
    measuring = coverage.Coverage.current()
    left_out = measuring.get_option("run:omit") if measuring else None
    if measuring is None or not _is_among(file, left_out):
        yield
        return
    measuring.stop()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv(IN_CHILDREN)
            yield
    finally:
        measuring.start()


def _is_among(file: Path, patterns: object) -> bool:
    return isinstance(patterns, list) and any(fnmatch(str(file), each) for each in patterns)


def by_room(files: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Sort files into the rooms of `bot`; a module beside them is a room of its own."""
    rooms: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, file in files.items():
        parts = Path(name).with_suffix("").parts
        rooms[parts[1] if parts[0] == "bot" else "tests"][name] = file
    return rooms


def share_of(files: dict[str, Any]) -> float:
    """Return how much of the lines and branches was reached, in percent."""
    sums = [file["summary"] for file in files.values()]
    reached = sum(each["covered_lines"] + each["covered_branches"] for each in sums)
    there = sum(each["num_statements"] + each["num_branches"] for each in sums)
    return 100.0 * reached / there if there else 100.0


def missed_in(file: dict[str, Any]) -> str:
    """Return the lines and branches of a file that no test reached."""
    lines = ", ".join(str(line) for line in file["missing_lines"])
    branches = ", ".join(f"{start}->{end}" for start, end in file["missing_branches"])
    return "; ".join(part for part in (lines, branches) if part)


if __name__ == "__main__":
    sys.exit(main())
