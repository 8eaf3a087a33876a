"""Kills a bot at the steps of its turns, one after the other, and gives the verdicts."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from bot.sandbox import ManualClock
from tests.crash.kinds import KINDS
from tests.crash.points import Point
from tests.crash.scene import Scene
from tests.crash.town import Town, town

NONCES_ARE_OVER = 600.0
SETTLING = 12.0


class Restart(Enum):
    """When the bot comes back."""

    AT_ONCE = "at once"
    AFTER_NONCES = "after the nonces' time"


@dataclass(frozen=True)
class Cycle:
    """One turn and the points of it at which the bot dies: none, one, or one and one more."""

    kind: str
    deaths: tuple[Point, ...] = ()
    restart: Restart = Restart.AT_ONCE

    def __str__(self) -> str:
        died = " and ".join(map(str, self.deaths)) or "nothing"
        return f"{self.kind}, killed at {died}, back {self.restart.value}"


@dataclass(frozen=True)
class Verdict:
    """What came of a cycle.

    Attributes:
        kills: How often the bot died; a point may not be reached when things go another way.
        reached: The points on the way, if nothing was to be killed.
    """

    cycle: Cycle
    kills: int
    wrong: Sequence[str]
    seconds: float
    reached: Sequence[Point] = ()
    seen: str = ""


async def run(town: Town, cycle: Cycle) -> Verdict:
    """Play one cycle."""
    begun, before = time.monotonic(), town.deaths
    scene = Scene(town, town.desks.pop(), town.person())
    await town.quiet()
    start = len(town.points.reached())
    town.arm(*cycle.deaths, between=_between(town, cycle.restart))
    try:
        await KINDS[cycle.kind](scene)
        wrong = await scene.settles(SETTLING)
    except (TimeoutError, AssertionError, RuntimeError) as exc:
        wrong = [f"{type(exc).__name__}: {exc}", *scene.wrong()]
    town.points.disarm()
    return Verdict(
        cycle=cycle,
        kills=town.deaths - before,
        wrong=wrong,
        seconds=time.monotonic() - begun,
        reached=() if cycle.deaths else town.points.since(start),
        seen=scene.dump() if wrong else "",
    )


def _between(town: Town, restart: Restart) -> Callable[[], Awaitable[None]]:
    async def between() -> None:
        if restart is Restart.AFTER_NONCES:
            assert isinstance(town.world.clock, ManualClock)
            town.world.clock.advance(NONCES_ARE_OVER)

    return between


async def run_all(
    folder: Path,
    cycles: Sequence[Cycle],
    *,
    towns: int,
    report: Callable[[Verdict], None] = lambda verdict: None,
) -> list[Verdict]:
    """Play cycles, in so many towns at once; a town in which something was wrong is left."""
    waiting, verdicts = deque(cycles), list[Verdict]()
    folder.mkdir(exist_ok=True)

    async def work(name: str) -> None:
        number = 0
        while waiting:
            number += 1
            async with _made(folder / f"{name}-{number}", len(waiting)) as here:
                while waiting:
                    verdicts.append(await run(here, waiting.popleft()))
                    report(verdicts[-1])
                    if verdicts[-1].wrong:
                        break

    async with asyncio.TaskGroup() as group:
        for number in range(min(towns, len(cycles))):
            group.create_task(work(f"town-{number}"))
    return verdicts


@asynccontextmanager
async def _made(folder: Path, scenes: int) -> AsyncIterator[Town]:
    folder.mkdir()
    async with town(folder, desks=scenes) as made:
        yield made


async def survey(folder: Path, kinds: Sequence[str], *, towns: int) -> dict[str, Verdict]:
    """Play each kind once without a kill, and return the verdicts with the points reached."""
    verdicts = await run_all(folder, [Cycle(kind) for kind in kinds], towns=towns)
    return {each.cycle.kind: each for each in verdicts}
