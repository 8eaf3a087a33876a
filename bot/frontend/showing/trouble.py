"""Telling people that the bot cannot write where it should."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable

import discord

from bot.agent.loop.failures import logged
from bot.events import UserMessageEvent
from bot.frontend.ids import Place, PlaceKind, place_of, user_of
from bot.frontend.refusals import DiscordError, asked
from bot.frontend.showing.outbox import Outbox
from bot.sessions import SessionStore

logger = logging.getLogger(__name__)


class Outage:
    """Says once a place, until it is over, that the log cannot be read or written."""

    def __init__(self, outbox: Outbox, *, noted: Callable[[], None]) -> None:
        self._outbox = outbox
        self._noted = noted
        self._told: set[int] = set()

    async def tell(self, channel_id: int, text: str, reference: str) -> None:
        """Say it, unless it was said; that it cannot be said is logged."""
        self.note()
        if channel_id in self._told:
            return
        self._told.add(channel_id)
        try:
            await self._outbox.tell(channel_id, f"{text} (reference {reference})")
        except DiscordError as exc:
            logger.warning("a failure could not be told in %s: %s", channel_id, exc)

    def note(self) -> None:
        """Note it, without a word: what was recorded all the same goes on later."""
        self._noted()

    def over(self, channel_id: int) -> None:
        """Note that the log could be written for a place."""
        self._told.discard(channel_id)


class Trouble:
    """Says in one line, where it can be said, that a place cannot be written to."""

    def __init__(self, *, client: discord.Client, store: SessionStore, outbox: Outbox) -> None:
        self._client = client
        self._store = store
        self._outbox = outbox
        self._told: set[str] = set()

    async def tell(self, session_id: str, error: DiscordError) -> None:
        """Tell what is wrong with a session's place; once, until it is over."""
        reference = logged(f"cannot write in {session_id}", error, unexpected=False)
        place = place_of(session_id)
        if place is None or session_id in self._told:
            return
        self._told.add(session_id)
        text = f"I cannot answer in <#{place.channel_id}>: {error}. (reference {reference})"
        async for channel_id in self._elsewhere(place):
            try:
                await self._outbox.tell(channel_id, text)
            except DiscordError as exc:
                logger.warning("nor can it be told in %s: %s", channel_id, exc)
            else:
                return

    def over(self, session_id: str) -> None:
        """Note that the place can be written to again."""
        self._told.discard(session_id)

    async def _elsewhere(self, place: Place) -> AsyncIterator[int]:
        """Give other places where it may be told: a thread's channel, a DM to who wrote last."""
        channel = await self._thread(place)
        if channel is not None:
            yield channel.parent_id
        writer = await self._writer(place.session_id)
        if writer is not None:
            try:
                dm = await asked(lambda: self._client.create_dm(discord.Object(writer)))
            except DiscordError as exc:
                logger.warning("no direct message can be opened: %s", exc)
            else:
                if dm.id != place.channel_id:
                    yield dm.id

    async def _thread(self, place: Place) -> discord.Thread | None:
        """Return the thread of a place; discord.py forgets one that is archived."""
        found = self._client.get_channel(place.channel_id)
        if place.kind is PlaceKind.THREAD and found is None:
            try:
                found = await asked(lambda: self._client.fetch_channel(place.channel_id))
            except DiscordError as exc:
                logger.warning("nor is the thread %s to be found: %s", place.channel_id, exc)
        return found if isinstance(found, discord.Thread) else None

    async def _writer(self, session_id: str) -> int | None:
        session = await self._store.get(session_id)
        for event in reversed(session.events if session is not None else ()):
            if isinstance(event, UserMessageEvent) and event.author:
                return user_of(event.author.user_id)
        return None
