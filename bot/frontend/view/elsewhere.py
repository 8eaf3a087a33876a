"""The channel for requests: their cards are there, and a line in the conversation leads to them."""

from __future__ import annotations

import discord

from bot.frontend.ids import place_of
from bot.frontend.view.shown import Key, Purpose, Shown
from bot.sessions.deliveries import Delivery
from bot.sessions.homes import HomeStore

_LINK = "https://discord.com/channels"


class Elsewhere:
    """Says where what is for approvers is shown; what is asked in one server stays in it."""

    def __init__(self, client: discord.Client, homes: HomeStore, channel: int | None) -> None:
        self._client = client
        self._homes = homes
        self._channel = channel

    async def channel_for(self, session_id: str, shown: Shown) -> int | None:
        """Return the channel for something, `None` for where the conversation is."""
        if self._channel is None or not shown.for_approvers:
            return None
        channel = self._client.get_channel(self._channel)
        home = await self._homes.of(session_id)
        if home is None or not isinstance(channel, discord.abc.GuildChannel):
            return None
        return self._channel if channel.guild.id == home.server_id else None

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
