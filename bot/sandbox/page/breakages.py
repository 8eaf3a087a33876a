"""What a visitor can break, to see how a bot bears it: a registry of named actions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.sandbox.resources.channels import Channel, Place, Thread
from bot.sandbox.resources.users import Bot
from bot.sandbox.world import World

Restart = Callable[[], Awaitable[object]]
SPEAKING = ("SEND_MESSAGES", "SEND_MESSAGES_IN_THREADS")
# Answers to interactions are bound by no such limit (reference, "Rate Limits").
LIMITED = ("/channels/**", "/guilds/**", "/users/**", "/applications/**")
LIMITED_FOR = 10.0  # seconds
RETRY_AFTER = 3.0  # seconds; so that a client asks again a few times in the meantime


@dataclass(frozen=True)
class Breakage:
    """One thing that can be broken.

    Attributes:
        run: Breaks it, for a bot and where the visitor is; its text says what happened.
    """

    name: str
    label: str
    about: str
    run: Callable[[Bot, Place], Awaitable[str]]


class Breakages:
    """What can be broken in a world, by name.

    Args:
        restart: Ends the bot's process, starts another, and returns when that is there; only
            whoever runs it can.
    """

    def __init__(self, world: World, restart: Restart | None) -> None:
        self._world, self._restart = world, restart
        self._mending: set[asyncio.Task[None]] = set()
        listed = [
            Breakage(
                "drop",
                "Drop the gateway connection",
                "The bot has to come back and miss nothing.",
                self._drop,
            ),
            Breakage(
                "lose",
                "Answer the next send with 500, although it was posted",
                "Sent again, it must not be there twice.",
                self._lose,
            ),
            Breakage(
                "limit",
                f"429 for {LIMITED_FOR:.0f} seconds",
                "The bot has to wait as long as it is told.",
                self._limit,
            ),
            Breakage(
                "mute",
                "Take or give back Send Messages",
                "The bot may read in this channel, and not write.",
                self._mute,
            ),
        ]
        if restart is not None:
            about = "Its process ends and a new one starts; what it knows has to survive."
            listed.append(Breakage("restart", "Restart the bot", about, self._end))
        self.by_name = {each.name: each for each in listed}

    def close(self) -> None:
        """Wait for nothing any more."""
        for task in self._mending:
            task.cancel()

    async def _drop(self, bot: Bot, place: Place) -> str:
        self._world.faults.drops(bot)
        return f"{bot.name}'s connection was dropped."

    async def _lose(self, bot: Bot, place: Place) -> str:
        self._world.faults.next_send(fails=500, after_effect=True)
        return "The next message will be posted, and answered with 500."

    async def _limit(self, bot: Bot, place: Place) -> str:
        faults, clock = self._world.faults, self._world.clock
        fault = faults.next_request("*", *LIMITED, fails=429, retry_after=RETRY_AFTER, times=None)

        async def mend() -> None:
            await clock.sleep(LIMITED_FOR)
            fault.ends()

        task = asyncio.create_task(mend())
        self._mending.add(task)
        task.add_done_callback(self._mending.discard)
        return f"Requests are answered with 429 for {LIMITED_FOR:.0f} seconds."

    async def _mute(self, bot: Bot, place: Place) -> str:
        if not isinstance(place, Channel | Thread):
            raise ValueError("in a DM there is no permission to take away")
        channel = place.parent if isinstance(place, Thread) else place
        if place.sending in place.permissions_for(bot):
            self._world.loses_permission(bot, *SPEAKING, in_=channel)
            return f"{bot.name} may not write any more in #{channel.name}."
        self._world.regains_permission(bot, *SPEAKING, in_=channel)
        return f"{bot.name} may write again in #{channel.name}."

    async def _end(self, bot: Bot, place: Place) -> str:
        if self._restart is not None:
            await self._restart()
        return f"{bot.name} was ended, and another process is there."
