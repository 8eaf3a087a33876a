"""What a visitor can break, to see how a bot bears it: a registry of named actions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.sandbox.channels import Channel, Place, Thread
from bot.sandbox.guilds import Overwrite
from bot.sandbox.permissions import Permissions

if TYPE_CHECKING:
    from bot.sandbox.server import Sandbox
    from bot.sandbox.users import Bot

Restart = Callable[[], Awaitable[object]]
SPEAKING = Permissions.SEND_MESSAGES | Permissions.SEND_MESSAGES_IN_THREADS
DROPPED = 4000  # a close code after which a client may resume


@dataclass(frozen=True)
class Breakage:
    """One thing that can be broken.

    Attributes:
        run: Breaks it; the text that it returns says what happened.
    """

    name: str
    label: str
    about: str
    run: Callable[[Bot, Place], Awaitable[str]]


def breakages(sandbox: Sandbox, restart: Restart | None) -> dict[str, Breakage]:
    """Return what can be broken here, by name; restarting takes a hook of whoever runs the bot."""
    listed = [
        Breakage(
            "drop",
            "Drop the gateway connection",
            "The bot has to come back and miss nothing.",
            lambda bot, _: _drop(sandbox, bot),
        ),
        Breakage(
            "mute",
            "Take or give back Send Messages",
            "The bot may read in this channel, and not write.",
            _mute,
        ),
    ]
    if restart is not None:
        about = "Its process ends and a new one starts; what it knows has to survive."
        listed.append(Breakage("restart", "Restart the bot", about, lambda *_: _restarted(restart)))
    return {each.name: each for each in listed}


async def _drop(sandbox: Sandbox, bot: Bot) -> str:
    await sandbox.disconnect(bot, DROPPED)
    return f"{bot.name}'s connection was dropped."


async def _mute(bot: Bot, place: Place) -> str:
    channel = place.parent if isinstance(place, Thread) else place
    if not isinstance(channel, Channel):
        raise ValueError("in a DM there is no permission to take away")
    before = channel.overwrites.get(bot, Overwrite())
    muted = SPEAKING in before.deny
    denied = before.deny & ~SPEAKING if muted else before.deny | SPEAKING
    allow, deny = ([str(one.name) for one in each] for each in (before.allow, denied))
    channel.guild.permits(bot, in_=channel, allow=allow, deny=deny)
    may = "may write again" if muted else "may not write any more"
    return f"{bot.name} {may} in #{channel.name}."


async def _restarted(restart: Restart) -> str:
    await restart()
    return "The bot was restarted."
