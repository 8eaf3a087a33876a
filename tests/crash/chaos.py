"""Many people at once, while Discord stumbles and the bot is killed again and again."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from random import Random

from bot.sandbox import REAL_LIMITS, ManualClock, Person, World
from tests.crash.judge import Fate
from tests.crash.mind import Plan
from tests.crash.scene import Scene
from tests.crash.town import GIVES_UP, Databases, Town, in_a_file, town, until

TOLD = frozenset({Fate.ANSWERED, Fate.FAILED})
LONGEST = 120.0  # seconds that somebody waits for an answer before they go on
SETTLING = 120.0
SENDS = ("POST", "/channels/*/messages")
EDITS = ("PATCH", "/channels/*/messages/*")
READS = ("GET", "/channels/*/messages")
CLICKS = ("POST", "/interactions/**")


@dataclass(frozen=True, kw_only=True)
class Weather:
    """How bad it gets.

    Attributes:
        seconds: For how long people go on writing.
        channels: In how many places.
        people: How many of them write in each.
        pause: Seconds between an answer and the same person's next message, on average.
        trouble: Seconds between two troubles with a request or an event, on average.
        disconnects: Seconds between two troubles with the connection, on average.
        kills: Seconds between two kills.
        twins: Whether two processes serve the same shard, and are killed in turn.
    """

    seconds: float = 600.0
    channels: int = 20
    people: int = 4
    pause: float = 8.0
    trouble: float = 0.7
    disconnects: float = 15.0
    kills: float = 60.0
    seed: int = 0
    twins: bool = False


@dataclass
class Damage:
    """What happened, and what was wrong in the end."""

    messages: int = 0
    calls: int = 0
    kills: int = 0
    troubles: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0
    seen: list[str] = field(default_factory=list)


async def storm(folder: Path, weather: Weather, databases: Databases = in_a_file) -> Damage:
    """Let people talk in bad weather, wait until it has settled, and judge."""
    world = World(clock=ManualClock(running=True), limits=REAL_LIMITS, patience=GIVES_UP)
    made = town(
        folder,
        desks=weather.channels,
        world=world,
        databases=databases,
        twins=weather.twins,
    )
    async with made as here:
        return await _Storm(here, weather).blow()


class _Storm:
    def __init__(self, here: Town, weather: Weather) -> None:
        self._town = here
        self._weather = weather
        self._random = Random(weather.seed)  # noqa: S311 - a seed makes it the same again
        self._damage = Damage()
        self._end = time.monotonic() + weather.seconds
        self._scenes = [Scene(here, desk, here.person()) for desk in here.desks]

    async def blow(self) -> Damage:
        people = [
            self._person(scene, self._town.person())
            for scene in self._scenes
            for _ in range(self._weather.people)
        ]
        async with asyncio.TaskGroup() as group:
            for each in (*people, self._trouble(), self._disconnects(), self._kills()):
                group.create_task(each)
        self._town.sandbox.faults.release_all()
        with suppress(TimeoutError):
            await until(lambda: not self._wrong() and self._town.is_up, "", SETTLING, step=1.0)
        await self._town.quiet()
        self._damage.wrong = self._wrong()
        self._damage.seen = [each.dump() for each in self._scenes if each.wrong()]
        self._damage.kills = self._town.deaths
        return self._damage

    def _wrong(self) -> list[str]:
        return [wrong for scene in self._scenes for wrong in scene.wrong()]

    @property
    def _goes_on(self) -> bool:
        return time.monotonic() < self._end

    # -- people ------------------------------------------------------------------------------------

    async def _person(self, scene: Scene, person: Person) -> None:
        await self._sleep(self._weather.pause)
        while self._goes_on:
            await self._asks(scene, person)
            await self._sleep(self._weather.pause)

    async def _asks(self, scene: Scene, person: Person) -> None:
        begun = time.monotonic()
        lines = self._random.choice((1, 1, 1, 5, 40, 90))
        plan = Plan(lines=(lines,), before=self._random.random() < 0.3, pieces=3)
        tools = self._random.choice(((), (), (), ("jot",), ("burn",), ("jot", "burn")))
        yes = self._random.random() < 0.7
        asked = await scene.asks(plan, by=person, fates=TOLD, calls=tools, ran=yes)
        self._damage.messages += 1
        self._damage.calls += len(tools)
        if "burn" in tools:
            line = f"{asked.token}.{tools.index('burn')}"
            await self._decides(scene, "Approve" if yes else "Deny", line)
        await self._patiently(until(lambda: scene.is_answered(asked), "", LONGEST, step=0.3))
        self._damage.slowest = max(self._damage.slowest, time.monotonic() - begun)

    async def _decides(self, scene: Scene, label: str, line: str) -> None:
        """Decide about a call, however long the bot takes to ask."""
        while time.monotonic() < self._end + SETTLING:
            with suppress(TimeoutError):
                await scene.decides(label, line)
                return

    async def _patiently(self, waiting: Awaitable[object]) -> None:
        """Wait for something; what never comes, the judge sees."""
        with suppress(TimeoutError):
            await waiting

    async def _sleep(self, average: float) -> None:
        seconds = self._random.uniform(0.3, 1.7) * average
        await asyncio.sleep(max(0.0, min(seconds, self._end - time.monotonic())))

    # -- the weather -------------------------------------------------------------------------------

    async def _trouble(self) -> None:
        faults = self._town.sandbox.faults
        troubles: dict[str, Callable[[], object]] = {
            "429 on a send": lambda: faults.next_request(*SENDS, fails=429, retry_after=0.7),
            "429 on an edit": lambda: faults.next_request(*EDITS, fails=429, retry_after=0.7),
            "500 before a send": lambda: faults.next_request(*SENDS, fails=500),
            "502 after a send": lambda: faults.next_request(*SENDS, fails=502, after_effect=True),
            "500 before an edit": lambda: faults.next_request(*EDITS, fails=500),
            "502 after an edit": lambda: faults.next_request(*EDITS, fails=502, after_effect=True),
            "reset before a send": lambda: faults.next_request(*SENDS, resets=True),
            "reset after a send": lambda: faults.next_request(
                *SENDS, resets=True, after_effect=True
            ),
            "500 on a history": lambda: faults.next_request(*READS, fails=500),
            "reset after a click": lambda: faults.next_request(
                *CLICKS, resets=True, after_effect=True
            ),
            "an event twice": lambda: faults.duplicates_next("MESSAGE_CREATE"),
            "a click twice": lambda: faults.duplicates_next("INTERACTION_CREATE"),
        }
        while self._goes_on:
            await self._sleep(self._weather.trouble)
            name = self._random.choice(list(troubles))
            troubles[name]()
            self._damage.troubles[name] += 1

    async def _disconnects(self) -> None:
        faults, bot = self._town.sandbox.faults, self._town.bot
        ways: dict[str, Callable[[], Awaitable[None]]] = {
            "connection cut": self._drop,
            "closed with 4000": lambda: faults.closes(bot, 4000),
            "asked to reconnect": lambda: faults.reconnects(bot),
            "session invalid": lambda: faults.invalidates(bot),
        }
        while self._goes_on:
            await self._sleep(self._weather.disconnects)
            name = self._random.choice(list(ways))
            await ways[name]()
            self._damage.troubles[name] += 1

    async def _kills(self) -> None:
        town, next_kill = self._town, time.monotonic() + self._weather.kills
        ways = cycle((town.kill, town.kill_twin) if self._weather.twins else (town.kill,))
        while self._goes_on:
            await asyncio.sleep(0.5)
            if time.monotonic() > next_kill:
                next_kill += self._weather.kills
                await next(ways)()

    async def _drop(self) -> None:
        self._town.sandbox.faults.drops(self._town.bot)
