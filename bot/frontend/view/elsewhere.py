"""The channel for requests: their cards are there, and a line in the conversation leads to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import discord

from bot.frontend.ids import place_of
from bot.frontend.view.shown import Key, Purpose, Shown
from bot.sessions.stores.deliveries import Delivery
from bot.sessions.stores.homes import HomeStore

ChannelOf = Callable[[int], Awaitable[int | None]]
"""Returns the channel for requests of a server, `None` if it has none."""

_LINK = "https://discord.com/channels"


class Elsewhere:
    """Says where what is for approvers is shown; what is asked in one server stays in it."""

    def __init__(self, client: discord.Client, homes: HomeStore, channel_of: ChannelOf) -> None:
        self._client = client
        self._homes = homes
        self._channel_of = channel_of

    async def channel_for(self, session_id: str, shown: Shown) -> int | None:
        """Return the channel for something, `None` for where the conversation is."""
        home = await self._homes.of(session_id) if shown.for_approvers else None
        if home is None:
            return None
        chosen = await self._channel_of(home.server_id)
        channel = self._client.get_channel(chosen) if chosen else None
        if not isinstance(channel, discord.abc.GuildChannel):
            return None
        return chosen if channel.guild.id == home.server_id else None

    async def pointer(self, shown: Shown, delivery: Delivery) -> Shown | None:
        """Return the line in the conversation that leads to a card which is not there."""
        place, home = place_of(delivery.session_id), await self._homes.of(delivery.session_id)
        is_card = shown.key.purpose is Purpose.CARD
        if not is_card or place is None or place.channel_id == delivery.channel_id or home is None:
            return None
        link = f"{_LINK}/{home.server_id}/{delivery.channel_id}/{delivery.message_id}"
        key = Key(shown.key.turn_id, shown.key.subject, Purpose.NOTICE)
        return Shown(
            key=key,
            content=f"{shown.brief}\n{link}",
            asked=shown.asked,
        )
