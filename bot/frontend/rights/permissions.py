"""What tools may reach: only what both the bot and whoever asks may reach by hand.

A tool names the permissions that its target takes. They are looked at when a call is asked for,
again before it starts, and as it runs. A place that one of the two cannot see is told of exactly
as one that does not exist: nobody learns through the bot what there is.

What is not promised: that nothing changes between the last look and what Discord then does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import discord

from bot.agent import ExecutionContext
from bot.errors import ToolError
from bot.frontend.rights.places import places_called
from bot.frontend.rights.requests import found
from bot.frontend.rights.standing import Place, Standing, standing_of

Names = Sequence[str]
"""Permissions, as discord.py calls them."""

READ: Names = ("view_channel", "read_message_history")
WRITE: Names = ("view_channel", "send_messages")


@dataclass(frozen=True, slots=True)
class Reach:
    """Finds what tools are to work on, for a client."""

    client: discord.Client

    async def place(self, context: ExecutionContext, wanted: str, needed: Names) -> Place:
        """Return the one place that is meant, where both have these permissions.

        Raises:
            ToolError: if there is none, or one of the two lacks a permission there.
        """
        standing = await standing_of(self.client, context)
        called = await places_called(self.client, standing, wanted)
        places = [each for each in called if await _both_see(standing, each)]
        if not places:
            raise ToolError(f"There is no channel {wanted!r} here that we both can see.")
        if len(places) > 1:
            ids = ", ".join(str(each.id) for each in places)
            raise ToolError(f"Several channels are called {wanted!r}; say which by its id: {ids}.")
        [place] = places
        for who, member in standing.both:
            _refuse(who, _missing(place, member, needed), f"in #{place.name}")
        return place

    async def server(self, context: ExecutionContext, needed: Names) -> Standing:
        """Return who asks in which server, where both have these permissions.

        Raises:
            ToolError: if one of the two lacks a permission.
        """
        standing = await standing_of(self.client, context)
        for who, member in standing.both:
            granted = member.guild_permissions
            missing = [name for name in needed if not getattr(granted, name)]
            _refuse(who, missing, "in this server")
        return standing


async def may(place: Place, member: discord.Member, needed: Names) -> bool:
    """Whether somebody sees a place, and has these permissions in it."""
    return await _sees(place, member) and not _missing(place, member, needed)


async def _both_see(standing: Standing, place: Place) -> bool:
    return all([await _sees(place, member) for _, member in standing.both])


async def _sees(place: Place, member: discord.Member) -> bool:
    """Whether somebody sees a place; who moderates sees a private thread once they are in it.

    discord.py asks only the channel that a thread hangs on.
    """
    if not isinstance(place, discord.Thread):
        return place.permissions_for(member).view_channel
    if place.parent is None or not place.permissions_for(member).view_channel:
        return False
    if not place.is_private():
        return True
    return await found(lambda: place.fetch_member(member.id)) is not None


def _missing(place: Place, member: discord.Member, needed: Names) -> Names:
    granted = place.permissions_for(member)
    return [name for name in needed_in(place, needed) if not getattr(granted, name)]


def needed_in(place: Place, needed: Names) -> Names:
    """Return what is needed in this place: writing in a thread takes another permission.

    In a locked one only moderators write; what is written beside a voice channel is for those who
    may join it.
    """
    if isinstance(place, discord.VoiceChannel | discord.StageChannel):
        return [*needed, "connect"]
    if not isinstance(place, discord.Thread) or "send_messages" not in needed:
        return needed
    needed = [each for each in needed if each != "send_messages"] + ["send_messages_in_threads"]
    return [*needed, "manage_threads"] if place.locked else needed


def _refuse(who: str, missing: Names, where: str) -> None:
    if missing:
        names = ", ".join(each.replace("_", " ").title() for each in missing)
        raise ToolError(f"{who} lacks a permission {where}: {names}.")
