"""Kills the bot at every step of every kind of turn: `python -m benchmarks.crash`.

Prints a table, and everything that the judge found wrong; ends with status 1 if there was any.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from benchmarks.databases import add_option, databases
from tests.crash.kinds import KINDS
from tests.crash.points import ANY, Point
from tests.crash.sweep import Cycle, Restart, Verdict, run_all, steps, survey

GATED = {"approved", "approved by command", "denied", "parallel calls", "message while waiting"}
SPECIAL = {
    Restart.AFTER_NONCES: 0.15,
    Restart.AFTER_EXPIRY: 0.15,
    Restart.TOO_LATE: 0.1,
    Restart.AFTER_CHATTER: 0.15,
}
"""Which share of the steps is tried with other restarts too."""
TWICE = 0.1
"""And with a second death on the way back."""


def cycles(reached: Mapping[str, Verdict], share: float, random: Random) -> Iterator[Cycle]:
    """Give every kill, or a share of them."""
    for kind, verdict in reached.items():
        for point in steps(verdict):
            if random.random() < share:
                yield Cycle(kind, (point,))
            if random.random() < share * TWICE:
                yield Cycle(kind, (point, Point(ANY, random.randint(1, 25))))
            for restart, part in SPECIAL.items():
                wanted = kind in GATED if restart is Restart.AFTER_EXPIRY else True
                if wanted and random.random() < share * part:
                    yield Cycle(kind, (point,), restart)


def report(verdict: Verdict) -> None:
    """Print what was wrong at once."""
    if verdict.wrong:
        print(f"WRONG: {verdict.cycle}", *verdict.wrong, verdict.seen, sep="\n    ", flush=True)


def table(verdicts: Sequence[Verdict], reached: Mapping[str, Verdict]) -> None:
    """Print how often each kind was killed, and how often something was wrong."""
    names = [each.value for each in Restart]
    print(f"{'kind':27} {'steps':>5} {'kills':>6} {'twice':>6}", *names[1:], "wrong", sep=" | ")
    rows = [*KINDS, None]
    for kind in rows:
        mine = [each for each in verdicts if kind in (None, each.cycle.kind)]
        count = sum(len(steps(each)) for name, each in reached.items() if kind in (None, name))
        by = [sum(v.kills for v in mine if v.cycle.restart is each) for each in Restart]
        twice = sum(each.kills > 1 for each in mine)
        wrong = sum(bool(each.wrong) for each in mine)
        cells = [f"{n:>{len(name)}}" for n, name in zip(by[1:], names[1:], strict=True)]
        first = f"{kind or 'all':27} {count:>5} {sum(by):>6} {twice:>6}"
        print(first, *cells, f"{wrong:>5}", sep=" | ")


async def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash", description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the kills (default: all)")
    parser.add_argument("--towns", type=int, default=4, help="bots at once (default: 4)")
    parser.add_argument("--seed", type=int, default=0)
    add_option(parser)
    parser.add_argument("kinds", nargs="*", default=list(KINDS), metavar="KIND")
    given = parser.parse_args()
    begun = time.monotonic()
    temporary = tempfile.TemporaryDirectory(prefix="parley-crash-")
    with temporary as name, databases(given.database) as made:
        folder, towns = Path(name), given.towns
        reached = await survey(folder / "survey", given.kinds, towns=towns, databases=made)
        for each in reached.values():
            report(each)
        random = Random(given.seed)  # noqa: S311 - it chooses what is tried
        chosen = list(cycles(reached, given.share, random))
        print(f"{len(chosen)} cycles", flush=True)
        verdicts = await run_all(
            folder / "kills", chosen, towns=towns, report=report, databases=made
        )
    table(verdicts, reached)
    print(f"in {time.monotonic() - begun:.0f} s")
    return int(any(each.wrong for each in (*verdicts, *reached.values())))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
