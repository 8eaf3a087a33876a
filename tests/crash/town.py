"""A little Discord, a model, and a bot in it that is started again whenever it dies."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bot.playground.stage import BotProcess
from bot.sandbox import Bot, Channel, Guild, ManualClock, Person, Sandbox, World, serve
from bot.sandbox.model import serve_model
from tests.crash.mind import Mind
from tests.crash.points import Point, Points
from tests.forking.client import create_forked

PATIENCE = 40.0  # seconds within which anything happens, also on a busy machine
GIVES_UP = 5.0  # seconds after which somebody whose click is not answered tries again
QUIET = 0.25  # seconds without a step after which a bot has nothing to do
STEP = 0.03
UNMEASURED = {"COVERAGE_PROCESS_START": "", "COVERAGE_PROCESS_CONFIG": ""}
"""What is killed would not tell what it covered: it need not be slowed down by measuring."""
NO_SETTINGS: Mapping[str, str] = {}
Between = Callable[[], Awaitable[None]]
Databases = Callable[[Path], Mapping[str, str]]
"""Makes a new database for a town, in its folder or elsewhere; returns what names it."""


def in_a_file(folder: Path) -> Mapping[str, str]:
    """Name a file as the database."""
    return {"DATABASE": str(folder / "parley.db")}


async def until(
    holds: Callable[[], bool], what: str, seconds: float = PATIENCE, *, step: float = STEP
) -> None:
    """Wait until something holds, and look every so many seconds.

    Raises:
        TimeoutError: it never did.
    """
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        await asyncio.sleep(step)


@dataclass(kw_only=True)
class Town:
    """The world around a bot, and the bot's process.

    Attributes:
        gossip: Another bot, which is never answered.
        general: A channel where the bot answers when it is mentioned, in a thread.
        desks: Channels where it answers everything, as many as scenes are to be played.
        twin: Another process of the bot on the same shard, as in a deploy that never ends.
        deaths: How often the bot was killed.
    """

    world: World
    sandbox: Sandbox
    guild: Guild
    bot: Bot
    mod: Person
    gossip: Person
    general: Channel
    desks: list[Channel]
    mind: Mind
    points: Points
    process: BotProcess
    folder: Path
    log: IO[bytes]
    twin: BotProcess | None = None
    deaths: int = 0
    _between: Between | None = None
    _once: Between | None = None
    _next: deque[Point] = field(default_factory=deque)
    _keeper: asyncio.Task[None] | None = None
    _twins_keeper: asyncio.Task[None] | None = None
    _tokens: int = field(default=0)

    def person(self) -> Person:
        """Return somebody new, with a right to nothing but to talk."""
        someone = self.world.person(f"p{len(self.world.users)}")
        self.guild.join(someone)
        return someone

    def token(self) -> str:
        """Return a word that no other message has."""
        self._tokens += 1
        return f"q{self._tokens}"

    def lines(self) -> list[str]:
        """Return what the tools wrote."""
        file = self.folder / "lines.txt"
        return file.read_text().splitlines() if file.exists() else []

    # -- the process -------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start the bot, and whenever it is killed start it again."""
        self.points.begin()
        await self.process.start()
        self._keeper = asyncio.create_task(self._keep())
        if self.twin is not None:
            await self.twin.start()
            self._twins_keeper = asyncio.create_task(self._keep_twin(self.twin))
        await self.quiet()

    async def _keep_twin(self, twin: BotProcess) -> None:
        while True:
            self._check_death(await twin.wait())
            self.deaths += 1
            await twin.start()

    def _check_death(self, status: int) -> None:
        if status != -signal.SIGKILL:
            self.log.flush()
            told = (self.folder / "log").read_text()[-2000:]
            raise RuntimeError(f"the bot ended with status {status}\n{told}")

    async def _keep(self) -> None:
        while True:
            self._check_death(await self.process.wait())
            self.deaths += 1
            if self.twin is None:
                await self.sandbox.disconnected(self.bot, PATIENCE)
            between, self._once = self._once or self._between, None
            if between is not None:
                await between()
            self.points.begin(self._next.popleft() if self._next else None)
            await self.process.start()

    def arm(
        self, deaths: Sequence[Point], *, from_start: bool, between: Between | None = None
    ) -> None:
        """Let the bot die at these points, one after the other, each counted from a start.

        Args:
            deaths: Where.
            from_start: Whether the first, too, is meant of the next process; else it is counted
                from now.
            between: What happens while it is dead.
        """
        self._between = between
        self._next = deque(deaths)
        if self._next and not from_start:
            self.points.arm(self._next.popleft())

    def disarm(self) -> None:
        """Let the bot live."""
        self.arm((), from_start=True)
        self.points.disarm()

    async def stop(self) -> None:
        """End the bot."""
        for keeper in filter(None, (self._keeper, self._twins_keeper)):
            keeper.cancel()
            await asyncio.wait([keeper])
        for process in filter(None, (self.process, self.twin)):
            await process.stop(signal.SIGKILL)

    async def kill(self, meanwhile: Between | None = None) -> None:
        """Kill the bot, wherever it is; `meanwhile` happens before it comes back."""
        self._once, before = meanwhile, self.deaths
        os.kill(self.process.pid, signal.SIGKILL)
        await until(lambda: self.deaths > before, "the bot does not die")

    async def kill_twin(self) -> None:
        """Kill the other process, wherever it is."""
        before = self.deaths
        assert self.twin is not None
        os.kill(self.twin.pid, signal.SIGKILL)
        await until(lambda: self.deaths > before, "the twin does not die")

    @property
    def is_up(self) -> bool:
        """Whether the bot is there and at work."""
        self.check()
        return self.points.has_started and any(c.bot is self.bot for c in self.sandbox.connections)

    def check(self) -> None:
        """Raise what went wrong with the process itself."""
        for keeper in filter(None, (self._keeper, self._twins_keeper)):
            if keeper.done():
                keeper.result()

    async def up(self) -> None:
        """Wait until the bot is there."""
        await until(lambda: self.is_up, "the bot is not there")

    async def quiet(self) -> None:
        """Wait until the bot is there and has nothing to do."""
        await self.up()
        begun = since = time.monotonic()
        seen = -1
        while time.monotonic() - since < QUIET or not (self.is_up and self.points.has_recovered):
            if time.monotonic() - begun > PATIENCE:
                raise TimeoutError("the bot does not come to rest")
            if (now := len(self.points.reached())) != seen:
                seen, since = now, time.monotonic()
            await asyncio.sleep(STEP)


def without(values: Mapping[str, str], name: str) -> Mapping[str, str]:
    """Return settings without one of them."""
    return {key: value for key, value in values.items() if key != name}


@asynccontextmanager
async def town(
    folder: Path,
    *,
    desks: int,
    behind: float = 0.0,
    settings: Mapping[str, str] = NO_SETTINGS,
    world: World | None = None,
    databases: Databases = in_a_file,
    twins: bool = False,
) -> AsyncIterator[Town]:
    """Make a town with its bot running, or two processes of it on the same shard.

    Its clock is so many seconds behind ours.
    """
    world = world or World(clock=ManualClock(running=True), patience=GIVES_UP)
    if behind:
        assert isinstance(world.clock, ManualClock)
        world.clock.advance(-behind)
    guild = world.guild("Home", owner=world.developer)
    bot, mod = world.bot("Parley"), world.person("mod")
    gossip = world.person("gossip", bot=True)
    guild.join(bot)
    guild.join(gossip)
    guild.join(mod, permissions={"MANAGE_GUILD", "MANAGE_MESSAGES"})
    places = [guild.channel(f"desk-{number}") for number in range(desks)]
    mind, points = Mind(), Points(folder / "points")
    tools = folder / "my_tools.py"
    shutil.copy(Path(__file__).with_name("my_tools.py"), tools)
    async with serve(world) as sandbox, serve_model(mind) as model:
        with (folder / "log").open("wb") as log:
            values = {
                "DISCORD_TOKEN": bot.token,
                "DISCORD_API_BASE": sandbox.api_base,
                "OPENAI_BASE_URL": model.base_url,
                "OPENAI_MODEL": "scripted",
                "CHANNELS": ",".join(str(each.id) for each in places),
                "TOOLS": str(tools),
                "TURNS_PER_MINUTE": "1000",
                "PARLEY_FAILPOINTS": str(points.folder),
                **UNMEASURED,
                **databases(folder),
                **settings,
            }
            made = Town(
                world=world,
                sandbox=sandbox,
                guild=guild,
                bot=bot,
                mod=mod,
                gossip=gossip,
                general=guild.channel("general"),
                desks=places,
                mind=mind,
                points=points,
                process=_process(values, log),
                folder=folder,
                log=log,
                twin=_process(without(values, "PARLEY_FAILPOINTS"), log) if twins else None,
            )
            try:
                await made.start()
                yield made
            finally:
                await made.stop()


def _process(values: Mapping[str, str], log: IO[bytes]) -> BotProcess:
    return BotProcess(values, log=log.fileno(), create=create_forked)
