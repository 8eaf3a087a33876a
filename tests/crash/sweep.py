"""Kills a bot at the steps of its turns, one after the other, and gives the verdicts."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from bot.sandbox import ManualClock
from tests.crash.judge import Fate
from tests.crash.kinds import AFTER_A_START, IN_KNOWN_PLACES, KINDS
from tests.crash.points import Point
from tests.crash.scene import Scene
from tests.crash.town import Databases, Town, in_a_file, town

NONCES_ARE_OVER = 600.0
EXPIRY = 4.0
CHATTER = 250  # messages: more than is looked through at the end of a place
BEHIND = 2 * 60 * 60.0
SETTLING = 25.0


class Restart(Enum):
    """When the bot comes back."""

    AT_ONCE = "at once"
    AFTER_NONCES = "after the time of nonces"
    AFTER_EXPIRY = "after requests have expired"
    TOO_LATE = "too late to catch up"
    AFTER_CHATTER = "after others have talked"


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
    scene: Scene | None = None


async def run(town: Town, cycle: Cycle) -> Verdict:
    """Play one cycle."""
    begun, late = time.monotonic(), cycle.restart is Restart.TOO_LATE
    or_else = frozenset({Fate.SKIPPED}) if late else frozenset[Fate]()
    scene = Scene(town, town.desks.pop(), town.person(), or_else)
    start, before, after_a_start = 0, town.deaths, cycle.kind in AFTER_A_START
    try:
        if late or cycle.kind in IN_KNOWN_PLACES:
            await scene.warms_up()
        await town.quiet()
        start, before = len(town.points.reached()), town.deaths
        town.arm(cycle.deaths, from_start=after_a_start, between=_between(scene, cycle.restart))
        await KINDS[cycle.kind](scene)
        wrong = await scene.settles(SETTLING)
    except Exception as exc:  # noqa: BLE001 - whatever it is, it is told with the cycle
        wrong = [f"{type(exc).__name__}: {exc}", *scene.wrong()]
    town.disarm()
    return Verdict(
        cycle=cycle,
        kills=town.deaths - before - after_a_start,
        wrong=wrong,
        seconds=time.monotonic() - begun,
        reached=() if cycle.deaths else town.points.since(0 if after_a_start else start),
        seen=scene.dump() if wrong else "",
        scene=scene,
    )


def _between(scene: Scene, restart: Restart) -> Callable[[], Awaitable[None]]:
    town = scene.town

    async def between() -> None:
        if restart is Restart.AFTER_NONCES:
            assert isinstance(town.world.clock, ManualClock)
            town.world.clock.advance(NONCES_ARE_OVER)
        if restart is Restart.AFTER_EXPIRY:
            await asyncio.sleep(EXPIRY)
        if restart is Restart.AFTER_CHATTER:
            for place in (each for each in scene.places if each.guild is not None):
                for number in range(CHATTER):
                    await town.gossip.says(f"this is no question ({number})", in_=place)

    return between


async def run_all(
    folder: Path,
    cycles: Sequence[Cycle],
    *,
    towns: int,
    report: Callable[[Verdict], None] = lambda verdict: None,
    databases: Databases = in_a_file,
) -> list[Verdict]:
    """Play cycles, in so many towns at once; a town in which something was wrong is left."""
    verdicts: list[Verdict] = []
    waiting = {
        restart: deque(each for each in cycles if each.restart is restart) for restart in Restart
    }

    async def work(name: str) -> None:
        number = 0
        while found := next((each for each, left in waiting.items() if left), None):
            number += 1
            here = folder / f"{name}-{number}"
            here.mkdir(parents=True)
            await _play(here, found, waiting[found], add, databases)

    def add(verdict: Verdict) -> None:
        verdicts.append(verdict)
        report(verdict)

    async with asyncio.TaskGroup() as group:
        for number in range(min(towns, len(cycles))):
            group.create_task(work(f"town-{number}"))
    return verdicts


async def _play(
    folder: Path,
    restart: Restart,
    cycles: deque[Cycle],
    add: Callable[[Verdict], None],
    databases: Databases,
) -> None:
    """Play cycles in one town until there is none left or something was wrong."""
    behind = BEHIND if restart is Restart.TOO_LATE else 0.0
    hours = {"APPROVAL_HOURS": f"{EXPIRY / 3600:f}"} if restart is Restart.AFTER_EXPIRY else {}
    made = town(folder, desks=len(cycles), behind=behind, settings=hours, databases=databases)
    async with made as here:
        played: list[Verdict] = []
        while cycles:
            verdict = await run(here, cycles.popleft())
            add(verdict)
            played.append(verdict)
            if verdict.wrong:
                break
        for each in filter(None, map(_later, played)):
            add(each)


def _later(verdict: Verdict) -> Verdict | None:
    """Return what went wrong in a place after it was judged: an answer that came too late."""
    if verdict.wrong or verdict.scene is None or not (wrong := verdict.scene.wrong()):
        return None
    late = [f"later: {each}" for each in wrong]
    return replace(verdict, kills=0, wrong=late, seen=verdict.scene.dump())


async def survey(
    folder: Path, kinds: Sequence[str], *, towns: int, databases: Databases = in_a_file
) -> dict[str, Verdict]:
    """Play each kind once without a kill, and return the verdicts with the points reached."""
    cycles = [Cycle(kind) for kind in kinds]
    verdicts = await run_all(folder, cycles, towns=towns, databases=databases)
    return {each.cycle.kind: each for each in verdicts}


def steps(verdict: Verdict) -> list[Point]:
    """Return the points of a turn at which a death differs from one at another point.

    Before a delivery is noted, and after, are the commit that notes it.
    """
    return [each for each in verdict.reached if not each.name.startswith("note.")]
