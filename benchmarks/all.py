"""Every figure beside its floor: `python -m benchmarks.all`, or some: `... all turns calls`.

Our modules are compiled first, as an installer leaves those of the libraries. Each scene is a
process of its own. One that misses a goal is tried again, up to three times, and the best of each
row counts: a busy machine only adds. With all scenes the table is written to docs/performance.md.
Ends with status 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import compileall
import importlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.rows import Row, table

SCENES = ("turns", "postgres", "calls", "starting", "resting", "recovering", "fleet")
ATTEMPTS = 4
PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- begin of what make bench writes -->", "<!-- end of what make bench writes -->"


def played(scene: str) -> list[Row]:
    """Play a scene in a process of its own; return its rows."""
    command = [sys.executable, "-m", "benchmarks.all", "--rows", scene]
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if ended.returncode:
        raise SystemExit(f"{scene} has failed")
    return [Row(**each) for each in json.loads(ended.stdout.splitlines()[-1])]


def best(scene: str) -> list[Row]:
    """Play a scene, again while a goal is missed; return the best of each row."""
    found = played(scene)
    for _ in range(ATTEMPTS - 1):
        if all(row.ok for row in found):
            break
        found = [min(pair, key=_excess) for pair in zip(found, played(scene), strict=True)]
    return found


def _excess(row: Row) -> float:
    return row.ours / row.limit if row.limit else row.ours


def write(rows: Sequence[Row]) -> None:
    """Put the table into the page."""
    day = datetime.now(UTC).date()
    machine = f"{platform.system()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    text = PAGE.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{day}, {machine}\n\n{table(rows)}\n\n{END}{after}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.all", description=__doc__)
    parser.add_argument("--rows", help=argparse.SUPPRESS)
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help=", ".join(SCENES))
    given = parser.parse_args()
    if given.rows:
        module = importlib.import_module(f"benchmarks.{given.rows}")
        print(json.dumps([asdict(row) for row in asyncio.run(module.rows())]))
        return 0
    if unknown := set(given.scenes) - {*SCENES}:
        parser.error(f"there is no scene {', '.join(sorted(unknown))}")
    compileall.compile_dir(PAGE.parent.parent / "bot", quiet=1)
    rows = []
    for scene in given.scenes or SCENES:
        print(f"{scene} ...", file=sys.stderr, flush=True)
        rows += best(scene)
    print(table(rows))
    if not given.scenes:
        write(rows)
    missed = [row for row in rows if not row.ok]
    print(f"\n{len(rows)} figures, {len(missed)} goals missed")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
