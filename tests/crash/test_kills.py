"""A sample of kills; `python -m benchmarks.crash` goes through all of them."""

from pathlib import Path
from random import Random

import pytest

from tests.crash.kinds import KINDS
from tests.crash.points import ANY, Point
from tests.crash.sweep import Cycle, Restart, Verdict, run_all
from tests.postgres import Server

SEED = 3
TOWNS = 4  # a bot spends half of its start with waiting
FEWEST = 20
SERVED = ("plain", "approved", "parallel calls", "two parts", "stopped", "message while waiting")


def sample(seed: int) -> list[Cycle]:
    """Return one kill of each kind somewhere on the way, and more of a kind with special ends."""
    random = Random(seed)  # noqa: S311 - it chooses what is tried

    def somewhere() -> Point:
        return Point(ANY, random.randint(1, 28))

    cycles = [Cycle(kind, (somewhere(),)) for kind in KINDS]
    cycles += [Cycle(kind, (somewhere(), somewhere())) for kind in ("approved", "two parts")]
    cycles += [Cycle("approved", (somewhere(),), Restart.AFTER_NONCES)]
    cycles += [Cycle("parallel calls", (somewhere(),), Restart.AFTER_EXPIRY)]
    cycles += [Cycle("plain", (Point(ANY, 2),), Restart.TOO_LATE)]
    return cycles


@pytest.mark.timeout(300)
async def test_whenever_it_is_killed_nothing_is_lost_and_nothing_happens_twice(
    tmp_path: Path,
) -> None:
    verdicts = await run_all(tmp_path, sample(SEED), towns=TOWNS)
    assert [told(each) for each in verdicts if each.wrong] == []
    assert sum(each.kills for each in verdicts) >= FEWEST


@pytest.mark.timeout(300)
async def test_so_it_is_with_postgresql(tmp_path: Path, postgres: Server) -> None:
    cycles = [Cycle(kind, (Point(ANY, 5 + number),)) for number, kind in enumerate(SERVED)]
    verdicts = await run_all(tmp_path, cycles, towns=TOWNS, databases=postgres.settings)
    assert [told(each) for each in verdicts if each.wrong] == []
    assert sum(each.kills for each in verdicts) >= len(SERVED) - 1


def told(verdict: Verdict) -> str:
    return "\n".join([f"{verdict.cycle}:", *verdict.wrong, verdict.seen])
