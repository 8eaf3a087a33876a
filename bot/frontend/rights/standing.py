"""Who asks for something, in which server, and who is to do it there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import discord

from bot.agent import ExecutionContext
from bot.errors import ToolError
from bot.frontend.ids import place_of, user_of
from bot.frontend.rights.requests import found

Place = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread


@dataclass(frozen=True, slots=True)
class Standing:
    """Two members of a server: whoever asks, as Discord knows them now, and the bot.

    Attributes:
        here: Where it is asked.
    """

    guild: discord.Guild
    here: Place
    requester: discord.Member
    bot: discord.Member

    @property
    def both(self) -> Sequence[tuple[str, discord.Member]]:
        """Both, with what the model calls them."""
        return ("Who asked", self.requester), ("The bot", self.bot)


async def standing_of(client: discord.Client, context: ExecutionContext) -> Standing:
    """Return who asks where.

    The requester is fetched: without a privileged intent the client knows no member, and what it
    might know of one may be old. Roles and channels, and the bot's own roles, the gateway keeps
    current, over the very connection that brings what people ask.

    Raises:
        ToolError: if it is not in a server, or who asked is not in it any more.
    """
    here = await _here(client, context.session.session_id)
    user = user_of(context.user_id or "")
    if user is None:
        raise ToolError("It is not known who asked for this.")
    requester = await found(lambda: here.guild.fetch_member(user))
    if requester is None:
        raise ToolError("Who asked for this is not a member of this server.")
    return Standing(here.guild, here, requester, here.guild.me)


async def _here(client: discord.Client, session_id: str) -> Place:
    place = place_of(session_id)
    if place is None:
        raise ToolError("This can be done only from Discord.")
    channel: object = client.get_channel(place.channel_id)
    if channel is None:
        channel = await found(lambda: client.fetch_channel(place.channel_id))
    if not is_place(channel):
        raise ToolError("This can be done only in a server.")
    return channel


def is_place(channel: object) -> TypeGuard[Place]:
    """Whether a channel is one of a server in which messages are."""
    return isinstance(channel, Place)
