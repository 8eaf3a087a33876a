"""Messages on their way in: whether they are answered, where, and in which order."""

from __future__ import annotations

import logging
import secrets

import discord

from bot.agent import Agent, UserMessage
from bot.events import Author, ErrorEvent
from bot.frontend import rate
from bot.frontend.access import Reaction
from bot.frontend.files import keep
from bot.frontend.ids import Place, PlaceKind, source_id_of, user_id_of
from bot.frontend.locks import Locks
from bot.frontend.options import FrontendOptions
from bot.frontend.outbox import Outbox
from bot.frontend.people import People
from bot.frontend.refusals import DiscordError
from bot.frontend.rooms import Rooms, place_of_message
from bot.frontend.runs import Runs
from bot.frontend.text import readable, speaker_name
from bot.sessions import SessionStore
from bot.sessions.marks import MarkStore
from bot.sessions.places import PlaceStore

logger = logging.getLogger(__name__)

SPOKEN = {discord.MessageType.default, discord.MessageType.reply}
STRANGER = "I answer direct messages only of people I know from the servers I work in."
TOO_FAST = "You are writing faster than I may answer. Please wait a minute."
FORWARDED = "I cannot read forwarded messages. Please write, or paste, what I should read."
EMPTY = "I see no text here. What can I do for you?"


class Inbox:
    """Takes the messages of each place one after the other, in the order of their arrival."""

    def __init__(
        self,
        *,
        client: discord.Client,
        agent: Agent,
        store: SessionStore,
        places: PlaceStore,
        marks: MarkStore,
        people: People,
        rooms: Rooms,
        runs: Runs,
        outbox: Outbox,
        options: FrontendOptions,
    ) -> None:
        self._client = client
        self._agent = agent
        self._store = store
        self._places = places
        self._marks = marks
        self._people = people
        self._rooms = rooms
        self._runs = runs
        self._outbox = outbox
        self._options = options
        self._rate = rate.Rate(options.turns_per_minute)
        self._locks: Locks[int] = Locks()

    async def hear(self, message: discord.Message) -> None:
        """Record a message and begin to answer it, if it is to be answered.

        When this returns the message is on disk, or needs no answer.
        """
        if not is_from_a_person(message, self._client):
            return
        async with self._locks[message.channel.id]:
            try:
                if await self._hear(message):
                    await self._places.mark_seen(message.channel.id, message.id)
            except Exception as exc:  # noqa: BLE001 - whatever it is, it is logged and told
                await self._failed(message, exc)

    async def _hear(self, message: discord.Message) -> bool:
        """Answer a message or say why not; return whether that settles it.

        What was not meant for the bot leaves no mark, nor does what could not be recorded.
        """
        guild = message.guild.id if message.guild else None
        if not await self._people.may_talk(message.author, guild):
            return guild is None and await self._refuse_stranger(message)
        await self._rooms.look_up(message)
        reaction = await self._rooms.reaction_to(message)
        if reaction is Reaction.NONE:
            return False
        text = self._text(message)
        if not text and not message.attachments:
            await self._say(message, FORWARDED if message.message_snapshots else EMPTY)
            return True
        match self._rate.ask(message.author.id):
            case rate.Verdict.ANSWER:
                return await self._answer(message, reaction, text)
            case rate.Verdict.TELL:
                await self._say(message, TOO_FAST)
            case rate.Verdict.SILENT:
                pass
        return True

    async def _answer(self, message: discord.Message, reaction: Reaction, text: str) -> bool:
        if reaction is Reaction.ANSWER_HERE:
            return await self._record(message, place_of_message(message), text)
        async with self._locks[message.id]:
            # The thread will have the message's id: what is said there waits for this.
            return await self._record(message, await self._rooms.open(message, text), text)

    async def _record(self, message: discord.Message, place: Place, text: str) -> bool:
        """Record a message and let it be answered; return whether it is on disk."""
        files = await keep(message.attachments, self._store, limit=self._options.attachment_bytes)
        user_id, alone = user_id_of(message.author.id), place.kind is PlaceKind.DM
        name = "" if alone else speaker_name(message.author.display_name)
        said = UserMessage(
            text="\n".join(filter(None, (text, *files.notes))),
            author=Author(user_id=user_id, name=name),
            attachments=files.kept,
            source_id=source_id_of(message.id),
        )
        run = self._agent.run(said, place.session_id, user_id=user_id)
        first = await self._runs.begin(place.session_id, run)
        return not isinstance(first, ErrorEvent)

    def _text(self, message: discord.Message) -> str:
        own = {f"<@{self._client.user.id}>"} if self._client.user else set()
        if message.guild is not None and message.guild.self_role is not None:
            own.add(message.guild.self_role.mention)
        names = {("@", user.id): user.display_name for user in message.mentions}
        names |= {("@&", role.id): role.name for role in message.role_mentions}
        names |= {("#", channel.id): channel.name for channel in message.channel_mentions}
        return readable(message.content, frozenset(own), lambda *key: names.get(key))

    async def _refuse_stranger(self, message: discord.Message) -> bool:
        if await self._marks.once(f"stranger-{message.author.id}"):
            await self._say(message, STRANGER)
        return True

    async def _say(self, message: discord.Message, text: str) -> None:
        await self._outbox.tell(message.channel.id, text, reply_to=message.id)

    async def _failed(self, message: discord.Message, error: Exception) -> None:
        reference = secrets.token_hex(4)
        logger.error("message %s was not taken [%s]", message.id, reference, exc_info=error)
        text = f"Something went wrong, and I could not take this message (reference {reference})."
        try:
            await self._say(message, text)
        except DiscordError as exc:
            logger.warning("nor could it be told in %s: %s", message.channel.id, exc)


def is_from_a_person(message: discord.Message, client: discord.Client) -> bool:
    """Whether a human wrote a message: not a bot, a webhook, Discord itself, or this bot."""
    author = message.author
    automatic = author.bot or author.system or message.webhook_id is not None
    return not automatic and author != client.user and message.type in SPOKEN
