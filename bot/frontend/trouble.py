"""Telling people that the bot cannot write where it should."""

from __future__ import annotations

import logging

import discord

from bot.frontend.ids import place_of
from bot.frontend.outbox import Outbox
from bot.frontend.refusals import DiscordError

logger = logging.getLogger(__name__)


class Trouble:
    """Says in one line, where it can be said, that a place cannot be written to."""

    def __init__(self, client: discord.Client, outbox: Outbox) -> None:
        self._client = client
        self._outbox = outbox
        self._told: set[str] = set()

    async def tell(self, session_id: str, error: DiscordError) -> None:
        """Tell what is wrong with a session's place; once, until it is over."""
        logger.warning("cannot write in %s: %s", session_id, error)
        parent = self._parent(session_id)
        if session_id in self._told or parent is None:
            return
        self._told.add(session_id)
        place = place_of(session_id)
        assert place is not None  # noqa: S101 - it has a parent
        try:
            await self._outbox.tell(parent, f"I cannot answer in <#{place.channel_id}>: {error}.")
        except DiscordError as exc:
            logger.warning("nor can it be told in its channel: %s", exc)

    def over(self, session_id: str) -> None:
        """Note that the place can be written to again."""
        self._told.discard(session_id)

    def _parent(self, session_id: str) -> int | None:
        place = place_of(session_id)
        thread = self._client.get_channel(place.channel_id) if place else None
        return thread.parent_id if isinstance(thread, discord.Thread) else None
