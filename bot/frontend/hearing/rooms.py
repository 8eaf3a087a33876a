"""Choosing, and where needed opening, the place in which a message is answered."""

from __future__ import annotations

import logging

import discord

from bot.failpoints import around
from bot.frontend.access import Heard, Reaction, reaction_to
from bot.frontend.ids import Place, PlaceKind
from bot.frontend.refusals import DiscordError, RefusedError, UnavailableError, asked
from bot.frontend.settings.book import SettingsBook
from bot.frontend.showing.outbox import Outbox
from bot.frontend.text import thread_name
from bot.sessions import SessionStore
from bot.sessions.stores.homes import Home
from bot.sessions.stores.marks import MarkStore

logger = logging.getLogger(__name__)

EXISTS = 160004  # "a thread has already been created for this message"


class Rooms:
    """Finds the place for a message's conversation."""

    def __init__(
        self,
        *,
        client: discord.Client,
        store: SessionStore,
        marks: MarkStore,
        outbox: Outbox,
        settings: SettingsBook,
    ) -> None:
        self._client = client
        self._store = store
        self._marks = marks
        self._outbox = outbox
        self._settings = settings

    async def look_up(self, message: discord.Message) -> None:
        """Make sure that it is known what kind of place a message was written in.

        discord.py gives a bare id for a thread that it was not told of.

        Raises:
            DiscordError: if the place cannot be looked up.
        """
        if message.guild is not None and isinstance(message.channel, discord.PartialMessageable):
            channel_id = message.channel.id
            channel = await asked(lambda: self._client.fetch_channel(channel_id))
            if isinstance(channel, discord.abc.Messageable):
                message.channel = channel

    async def reaction_to(self, message: discord.Message) -> Reaction:
        """Return what a message of somebody who may talk calls for."""
        if message.guild is None:
            return Reaction.ANSWER_HERE
        here = await self._settings.here(
            home_of(message, message.guild), thread_id=message.channel.id
        )
        return reaction_to(here, await self._heard(message))

    async def open(self, message: discord.Message, text: str) -> Place:
        """Return the thread that was opened for a message; where none may be opened, here.

        Raises:
            UnavailableError: if Discord failed.
        """
        return await self._thread(message, text) or place_of_message(message)

    async def _heard(self, message: discord.Message) -> Heard:
        mentioned = mentions_bot(self._client, message)
        return Heard(
            mentioned=mentioned,
            thread=isinstance(message.channel, discord.Thread),
            joined=not mentioned and await self._is_conversation(message),
        )

    async def _is_conversation(self, message: discord.Message) -> bool:
        channel = message.channel
        if not isinstance(channel, discord.Thread):
            return False
        session_id = place_of_message(message).session_id
        own = self._client.user is not None and channel.owner_id == self._client.user.id
        return own or await self._store.get(session_id) is not None

    async def _thread(self, message: discord.Message, text: str) -> Place | None:
        """Open a thread on a message; a thread's id is its first message's.

        Raises:
            UnavailableError: if Discord failed, and there is none.
        """
        place = Place(PlaceKind.THREAD, message.id)
        try:
            with around("thread"):
                await asked(lambda: message.create_thread(name=thread_name(text)))
        except UnavailableError:
            if not await self._exists(message.id):
                raise  # the message is heard again, and this with it
        except RefusedError as exc:
            if exc.code != EXISTS:
                await self._no_thread(message, exc)
                return None
        return place

    async def _exists(self, thread: int) -> bool:
        """Whether a thread is there after all: its creation may fail and yet have worked."""
        try:
            await asked(lambda: self._client.fetch_channel(thread))
        except DiscordError:
            return False
        return True

    async def _no_thread(self, message: discord.Message, why: RefusedError) -> None:
        channel = message.channel.id
        logger.warning("no thread could be opened in channel %s: %s", channel, why)
        if await self._marks.once(no_thread(channel)):
            text = "I may not open threads in this channel, so I answer right here."
            try:
                await self._outbox.tell(channel, text, reply_to=message.id)
            except RefusedError as exc:
                logger.warning("nor may I write in channel %s: %s", channel, exc)


def no_thread(channel_id: int) -> str:
    """Return the mark of a channel in which it was told that no thread may be opened."""
    return f"no-thread-{channel_id}"


def place_of_message(message: discord.Message) -> Place:
    """Return the place in which a message was written."""
    if message.guild is None:
        return Place(PlaceKind.DM, message.channel.id)
    thread = isinstance(message.channel, discord.Thread)
    return Place(PlaceKind.THREAD if thread else PlaceKind.CHANNEL, message.channel.id)


def home_of(message: discord.Message, guild: discord.Guild) -> Home:
    """Return where in a server a conversation is that begins with, or goes on in, a message."""
    channel = message.channel
    return Home(guild.id, channel.parent_id if isinstance(channel, discord.Thread) else channel.id)


def mentions_bot(client: discord.Client, message: discord.Message) -> bool:
    """Whether a message mentions the bot, or the role that Discord made for it."""
    if client.user is None:
        return False
    role = message.guild.self_role if message.guild else None
    return client.user in message.mentions or (role is not None and role in message.role_mentions)
