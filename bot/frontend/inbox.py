"""Messages on their way in: whether they are answered, where, and in which order."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from enum import Enum, auto

import discord

from bot.agent import Agent, UserMessage
from bot.agent.failures import failure_of, logged
from bot.errors import StorageError
from bot.events import Attachment, Author, ErrorEvent
from bot.frontend import rate
from bot.frontend.access import Reaction
from bot.frontend.files import keep
from bot.frontend.ids import Place, PlaceKind, source_id_of, user_id_of
from bot.frontend.locks import Locks
from bot.frontend.options import DMPolicy, FrontendOptions
from bot.frontend.outbox import Outbox
from bot.frontend.people import People
from bot.frontend.refusals import DiscordError, UnavailableError
from bot.frontend.rooms import Rooms, place_of_message
from bot.frontend.runs import Runs
from bot.frontend.text import one_line, readable, speaker_name
from bot.frontend.trouble import Outage
from bot.sessions import SessionStore
from bot.sessions.homes import Home, HomeStore
from bot.sessions.marks import MarkStore

logger = logging.getLogger(__name__)

SPOKEN = {discord.MessageType.default, discord.MessageType.reply}
STRANGER = "I answer direct messages only from people named in my configuration."
STRANGER_TO_SERVERS = "I answer direct messages only from people who may talk to me in a server."
TOO_FAST = "You are writing faster than I may answer. Please wait a minute."
FORWARDED = "I cannot read forwarded messages. Please write, or paste, what I should read."
EMPTY = "I see no text here. What can I do for you?"
LATE = (
    "I was away for too long to answer what was written here. Please ask again what still matters."
)


class Heard(Enum):
    """What became of a message."""

    NOTHING = auto()  # it needs no answer
    TAKEN = auto()  # it was recorded, or its writer was told why not
    LATER = auto()  # it could not be recorded now


class Inbox:
    """Takes messages; of each place one after the other, which `Arrivals` sees to."""

    def __init__(
        self,
        *,
        client: discord.Client,
        agent: Agent,
        store: SessionStore,
        marks: MarkStore,
        homes: HomeStore,
        people: People,
        rooms: Rooms,
        runs: Runs,
        outbox: Outbox,
        outage: Outage,
        locks: Locks[int],
        options: FrontendOptions,
    ) -> None:
        self._client = client
        self._agent = agent
        self._store = store
        self._marks = marks
        self._homes = homes
        self._people = people
        self._rooms = rooms
        self._runs = runs
        self._outbox = outbox
        self._outage = outage
        self._locks = locks
        self._options = options
        self._rate = rate.Rate(options.turns_per_minute)

    async def hear(self, message: discord.Message) -> Heard:
        """Record a person's message and begin to answer it, if it is to be answered.

        When this returns the message is on disk, or needs no answer; or it has to be heard again,
        since the disk or Discord failed.
        """
        try:
            return await self._hear(message)
        except UnavailableError as exc:
            logger.warning("message %s is taken later: %s", message.id, exc)
            return Heard.LATER
        except StorageError as exc:
            failure = failure_of(exc, session_id=place_of_message(message).session_id)
            await self._outage.tell(message.channel.id, failure.text, failure.reference)
            return Heard.LATER
        except Exception as exc:  # noqa: BLE001 - whatever it is, it is logged and told
            return await self._failed(message, exc)

    async def skip(self, messages: Sequence[discord.Message]) -> None:
        """Record those messages of one place that were meant for the bot, and came too late.

        Raises:
            ParleyError: if they cannot be recorded.
        """
        said = [self._late(each) for each in messages if await self._is_meant(each)]
        said = [each for each in said if each.text]
        if said:
            place = place_of_message(messages[0])
            await self._agent.skip(said, place.session_id, text=LATE)
            self._runs.reconcile(place.session_id)

    async def _hear(self, message: discord.Message) -> Heard:
        """Answer a message or say why not."""
        await self._rooms.look_up(message)
        reaction = await self._rooms.reaction_to(message)
        if reaction is Reaction.NONE:
            return Heard.NOTHING
        if not await self._may_talk(message):
            return await self._refuse(message)
        match self._rate.ask(message.author.id, message.created_at.timestamp()):
            case rate.Verdict.ANSWER:
                return await self._take(message, reaction)
            case rate.Verdict.TELL:
                await self._say(message, TOO_FAST)
            case rate.Verdict.SILENT:
                pass
        return Heard.TAKEN

    async def _take(self, message: discord.Message, reaction: Reaction) -> Heard:
        """Record a message, or say that there is nothing in it to answer."""
        text = self._text(message)
        if not text and not message.attachments:
            await self._say(message, FORWARDED if message.message_snapshots else EMPTY)
            return Heard.TAKEN
        recorded = await self._answer(message, reaction, text)
        return Heard.TAKEN if recorded else Heard.LATER

    async def _is_meant(self, message: discord.Message) -> bool:
        """Whether a message would be answered, had it come in time."""
        if not is_from_a_person(message, self._client):
            return False
        await self._rooms.look_up(message)
        if await self._rooms.reaction_to(message) is Reaction.NONE:
            return False
        return await self._may_talk(message)

    async def _may_talk(self, message: discord.Message) -> bool:
        guild = message.guild
        message.author = await self._people.recognised(message.author, guild)
        return await self._people.may_talk(message.author, guild.id if guild else None)

    async def _answer(self, message: discord.Message, reaction: Reaction, text: str) -> bool:
        if reaction is Reaction.ANSWER_HERE:
            return await self._record(message, place_of_message(message), text)
        async with self._locks[message.id]:
            # The thread will have the message's id: what is said there waits for this.
            return await self._record(message, await self._rooms.open(message, text), text)

    async def _record(self, message: discord.Message, place: Place, text: str) -> bool:
        """Record a message and let it be answered; return whether it is on disk."""
        files = await keep(message.attachments, self._store, limit=self._options.attachment_bytes)
        said = _said(message, place, "\n".join(filter(None, (text, *files.notes))), files.kept)
        if message.guild is not None:
            await self._homes.put(place.session_id, home_of(message, message.guild))
        user_id = user_id_of(message.author.id)
        run = self._agent.run(said, place.session_id, user_id=user_id)
        first = await self._runs.begin(place.session_id, run)
        return not isinstance(first, ErrorEvent)

    def _late(self, message: discord.Message) -> UserMessage:
        names = (one_line(file.filename, 100) for file in message.attachments)
        notes = (f"[The file {name} was not read.]" for name in names)
        text = "\n".join(filter(None, (self._text(message), *notes)))
        return _said(message, place_of_message(message), text)

    def _text(self, message: discord.Message) -> str:
        own = {f"<@{self._client.user.id}>"} if self._client.user else set()
        if message.guild is not None and message.guild.self_role is not None:
            own.add(message.guild.self_role.mention)
        names = {("@", user.id): user.display_name for user in message.mentions}
        names |= {("@&", role.id): role.name for role in message.role_mentions}
        names |= {("#", channel.id): channel.name for channel in message.channel_mentions}
        return readable(message.content, frozenset(own), lambda *key: names.get(key))

    async def _refuse(self, message: discord.Message) -> Heard:
        """Tell a stranger once, in a DM, why there is no answer."""
        if message.guild is not None:
            return Heard.NOTHING
        if await self._marks.once(f"stranger-{message.author.id}"):
            members = self._options.dms is DMPolicy.MEMBERS
            await self._say(message, STRANGER_TO_SERVERS if members else STRANGER)
        return Heard.TAKEN

    async def _say(self, message: discord.Message, text: str) -> None:
        await self._outbox.tell(message.channel.id, text, reply_to=message.id)

    async def _failed(self, message: discord.Message, error: Exception) -> Heard:
        reference = logged(f"message {message.id} was not taken", error)
        text = f"Something went wrong, and I could not take this message (reference {reference})."
        try:
            await self._say(message, text)
        except DiscordError as exc:
            logger.warning("nor could it be told in %s: %s", message.channel.id, exc)
            return Heard.LATER if isinstance(exc, UnavailableError) else Heard.TAKEN
        return Heard.TAKEN


def _said(
    message: discord.Message, place: Place, text: str, kept: tuple[Attachment, ...] = ()
) -> UserMessage:
    name = "" if place.kind is PlaceKind.DM else speaker_name(message.author.display_name)
    return UserMessage(
        text=text,
        author=Author(user_id=user_id_of(message.author.id), name=name),
        attachments=kept,
        source_id=source_id_of(message.id),
    )


def home_of(message: discord.Message, guild: discord.Guild) -> Home:
    """Return where in a server a conversation is that begins with, or goes on in, a message."""
    channel = message.channel
    return Home(guild.id, channel.parent_id if isinstance(channel, discord.Thread) else channel.id)


def is_from_a_person(message: discord.Message, client: discord.Client) -> bool:
    """Whether a human wrote a message: not a bot, a webhook, Discord itself, or this bot."""
    author = message.author
    automatic = author.bot or author.system or message.webhook_id is not None
    return not automatic and author != client.user and message.type in SPOKEN
