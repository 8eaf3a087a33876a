"""Who may see a conversation in Discord now; nothing that was known before counts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import discord

from bot.frontend.ids import PlaceKind, place_of
from bot.frontend.refusals import DiscordError, UnavailableError, asked

T = TypeVar("T")

Channel = discord.abc.GuildChannel | discord.Thread


class Visibility:
    """Looks with the eyes of one person, for as long as one answer takes.

    Raises (from everything):
        UnavailableError: if Discord cannot be asked.
    """

    def __init__(self, client: discord.Client, user: int) -> None:
        self._client = client
        self._user = user
        self._channels: dict[int, Channel | None] = {}
        self._members: dict[int, discord.Member | None] = {}

    async def link(self, session_id: str) -> str | None:
        """Return where a conversation is in which they wrote, `None` if they may not see it.

        Who wrote in a direct message's place is the one person there is.
        """
        place = place_of(session_id)
        if place is None:
            return None
        if place.kind is PlaceKind.DM:
            return f"https://discord.com/channels/@me/{place.channel_id}"
        channel = await self._channel(place.channel_id)
        if channel is None or not await self._sees(channel):
            return None
        return f"https://discord.com/channels/{channel.guild.id}/{channel.id}"

    async def _channel(self, number: int) -> Channel | None:
        if number not in self._channels:
            found = await self._found(lambda: self._client.fetch_channel(number))
            self._channels[number] = (
                found if isinstance(found, discord.abc.GuildChannel | discord.Thread) else None
            )
        return self._channels[number]

    async def _sees(self, channel: Channel) -> bool:
        """Whether they see a channel; of a thread the one that it hangs on says who may."""
        member = await self._member(channel.guild)
        above: Channel | None = channel
        if isinstance(channel, discord.Thread):
            above = await self._channel(channel.parent_id)
        if member is None or above is None:
            return False
        granted = above.permissions_for(member)
        if not (granted.view_channel and granted.read_message_history):
            return False
        if not isinstance(channel, discord.Thread) or not channel.is_private():
            return True
        return granted.manage_threads or await self._is_in(channel)

    async def _member(self, guild: discord.Guild) -> discord.Member | None:
        if guild.id not in self._members:
            member = await self._found(lambda: guild.fetch_member(self._user))
            self._members[guild.id] = member
        return self._members[guild.id]

    async def _is_in(self, thread: discord.Thread) -> bool:
        return await self._found(lambda: thread.fetch_member(self._user)) is not None

    @staticmethod
    async def _found(request: Callable[[], Awaitable[T]]) -> T | None:
        try:
            return await asked(request)
        except UnavailableError:
            raise
        except DiscordError:
            return None
