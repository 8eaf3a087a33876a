"""A little Discord with people in it, the bot's account, and a model that is scripted."""

from __future__ import annotations

import os
import signal
import sys
from asyncio import create_subprocess_exec, subprocess, timeout
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.config import child_environment
from bot.sandbox import Bot, Channel, Person, Sandbox, World

Create = Callable[..., Awaitable[subprocess.Process]]

STOPPING = 20.0
"""Seconds that a bot has to end before it is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where a conversation is played.

    Attributes:
        general: The bot answers here when it is mentioned, in a thread.
        talk: The bot answers everything here.
        mona: A moderator; the others may not approve anything.
    """

    world: World
    bot: Bot
    general: Channel
    talk: Channel
    announcements: Channel
    wren: Person
    bob: Person
    mona: Person

    def settings(self, sandbox: Sandbox, folder: Path) -> dict[str, str]:
        """Return the settings of a bot that lives here."""
        return {
            "DISCORD_TOKEN": self.bot.token,
            "DISCORD_API_BASE": sandbox.api_base,
            "DATABASE": str(folder / "parley.db"),
            "CHANNELS": str(self.talk.id),
            "TOOLS": "current_time,roll_dice,announce",
            "POLICY_FILE": str(policy_file(folder)),
            "MCP_CONFIG": "none",
            "SHUTDOWN_SECONDS": "5",
            "LOG_LEVEL": "WARNING",
        }


def policy_file(folder: Path) -> Path:
    """Write the policy of a bot that lives here: the tool that a server has to enable is on."""
    file = folder / "policy.toml"
    file.write_text('[tools.announce]\nmode = "own"\n', encoding="utf-8")
    return file


def make_stage() -> Stage:
    """Make the server, its channels and its people."""
    world = World()
    guild = world.guild("Playground", owner=world.developer)
    stage = Stage(
        world=world,
        bot=world.bot("Parley"),
        talk=guild.channel("talk"),  # first, so that a visitor begins where all is answered
        general=guild.channel("general"),
        announcements=guild.channel("announcements"),
        wren=world.person("wren", about="a member"),
        bob=world.person("bob", about="a stranger, who may approve nothing"),
        mona=world.person("mona", about="a moderator, who may approve"),
    )
    for user in (stage.bot, stage.wren, stage.bob):
        guild.join(user)
    guild.join(stage.mona, permissions={"MANAGE_GUILD", "MANAGE_MESSAGES"})
    return stage


async def _new_python(*arguments: str, **options: Any) -> subprocess.Process:
    return await create_subprocess_exec(sys.executable, *arguments, **options)


class BotProcess:
    """The bot as a process of its own, as it runs anywhere else."""

    def __init__(
        self,
        settings: Mapping[str, str],
        *,
        env_file: Path | None = None,
        keep: Collection[str] = (),
        log: int | None = None,
        create: Create = _new_python,
    ) -> None:
        """Make one that is not started.

        Args:
            settings: All that it is told, by their outside names.
            env_file: Where settings to hand on are read, by default in `.env`.
            keep: Those to hand on.
            log: A descriptor for what it logs, in place of our own standard error.
            create: Starts a Python with these arguments.
        """
        self._environment = child_environment(env_file, keep=keep, values=settings)
        self._log = log
        self._create = create
        self._process: subprocess.Process | None = None
        self._again = False

    async def start(self) -> None:
        """Start it; in a session of its own, so that Ctrl-C reaches only us.

        It holds a pipe from us: should we be killed, it stops.
        """
        command = ["-m", "bot", "run", "--lifeline", "--env-file", os.devnull]
        self._process = await self._create(
            *command,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """The number of the process, 0 before the first start."""
        return self._process.pid if self._process else 0

    async def wait(self) -> int:
        """Return the exit status, once it has ended."""
        return await self._process.wait() if self._process else 0

    async def restart(self) -> None:
        """End it for whoever keeps it running to start it again at once."""
        self._again = True
        await self.stop()

    def is_wanted_again(self) -> bool:
        """Return whether it was ended by a restart; asked once for each."""
        again, self._again = self._again, False
        return again

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal, wait until it has ended, and return the exit status."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(number)
            with suppress(TimeoutError):
                async with timeout(STOPPING):
                    await self._process.wait()
            if self._process.returncode is None:
                self._process.kill()
        return await self.wait()
