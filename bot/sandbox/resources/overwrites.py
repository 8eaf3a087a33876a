"""Permissions that a member loses in a channel, and gets back."""

from __future__ import annotations

from collections.abc import Iterable

from bot.sandbox.resources import payloads
from bot.sandbox.resources.channels import Channel, Thread
from bot.sandbox.resources.guilds import Overwrite
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.users import Intents, User


def take_away(user: User, names: Iterable[str], place: Channel | Thread) -> None:
    """Deny a member permissions.

    Raises:
        ValueError: Who owns or administers the server has them all the same.
    """
    channel, lost = _channel(place), Permissions.of(names)
    before = channel.overwrites.get(user, Overwrite())
    _set(channel, user, Overwrite(before.allow & ~lost, before.deny | lost))
    if place.permissions_for(user) & lost:
        raise ValueError(f"{user.name} cannot lose {lost.name} in {place.name}")


def give_back(user: User, names: Iterable[str], place: Channel | Thread) -> None:
    """Deny a member these permissions no longer."""
    channel, regained = _channel(place), Permissions.of(names)
    before = channel.overwrites.get(user, Overwrite())
    _set(channel, user, Overwrite(before.allow, before.deny & ~regained))


def _channel(place: Channel | Thread) -> Channel:
    return place.parent if isinstance(place, Thread) else place


def _set(channel: Channel, user: User, overwrite: Overwrite) -> None:
    channel.overwrites.pop(user, None)
    if overwrite.allow or overwrite.deny:
        channel.overwrites[user] = overwrite
    # Also a bot that does not see the channel any more is told of it.
    body = payloads.place(channel)
    channel.world.hub.in_guild(channel.guild, "CHANNEL_UPDATE", lambda _: body, Intents.GUILDS)
