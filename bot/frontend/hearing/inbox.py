"""Messages on their way in: whether they are answered, where, and in which order."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from enum import Enum, auto

import discord

from bot.agent import Agent
from bot.agent.loop.failures import failure_of, logged
from bot.agent.tools.memory import Recollection
from bot.errors import StorageError
from bot.events import ErrorEvent
from bot.frontend.access import Reaction
from bot.frontend.hearing.rooms import Rooms, home_of, place_of_message
from bot.frontend.ids import Place, user_id_of
from bot.frontend.locks import Locks
from bot.frontend.options import DMPolicy, FrontendOptions
from bot.frontend.people import People, is_from_a_person
from bot.frontend.rate import TOO_FAST, Rate, Verdict
from bot.frontend.reading.message import MessageReader
from bot.frontend.refusals import DiscordError, UnavailableError
from bot.frontend.showing.outbox import Outbox
from bot.frontend.showing.runs import Runs
from bot.frontend.showing.trouble import Outage
from bot.sessions.stores.homes import HomeStore
from bot.sessions.stores.marks import MarkStore

logger = logging.getLogger(__name__)

STRANGER = "I answer direct messages only from people named in my configuration."
STRANGER_TO_SERVERS = (
    "I answer direct messages only from people who may talk to me in a server. "
    "If you may, say something to me there first."
)
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
        reader: MessageReader,
        marks: MarkStore,
        homes: HomeStore,
        people: People,
        rooms: Rooms,
        runs: Runs,
        outbox: Outbox,
        outage: Outage,
        locks: Locks[int],
        rate: Rate,
        recollection: Recollection,
        options: FrontendOptions,
    ) -> None:
        self._client = client
        self._agent = agent
        self._reader = reader
        self._marks = marks
        self._homes = homes
        self._people = people
        self._rooms = rooms
        self._runs = runs
        self._outbox = outbox
        self._outage = outage
        self._locks = locks
        self._options = options
        self._rate = rate
        self._recollection = recollection

    async def hear(self, messages: Sequence[discord.Message]) -> Heard:
        """Record what a person said, and begin to answer it, if it is to be answered.

        When this returns it is on disk, or needs no answer; or it has to be heard again, since
        the disk or Discord failed.

        Args:
            messages: One message, or several that are one long text.
        """
        first = messages[0]
        try:
            return await self._hear(messages)
        except UnavailableError as exc:
            logger.warning("message %s is taken later: %s", first.id, exc)
            return Heard.LATER
        except StorageError as exc:
            failure = failure_of(exc, session_id=place_of_message(first).session_id)
            await self._outage.tell(first.channel.id, failure.text, failure.reference)
            return Heard.LATER
        except Exception as exc:  # noqa: BLE001 - whatever it is, it is logged and told
            return await self._failed(first, exc)

    async def skip(self, messages: Sequence[discord.Message]) -> None:
        """Record those messages of one place that were meant for the bot, and came too late.

        Raises:
            ParleyError: if they cannot be recorded.
        """
        meant = [each for each in messages if await self._is_meant(each)]
        said = [self._reader.unread(each, place_of_message(each)) for each in meant]
        said = [each for each in said if not each.is_empty]
        if said:
            place = place_of_message(messages[0])
            await self._agent.skip(said, place.session_id, text=LATE)
            self._runs.reconcile(place.session_id)

    async def _hear(self, messages: Sequence[discord.Message]) -> Heard:
        """Answer what was said or say why not; the first that calls for an answer decides."""
        for message in messages:
            await self._rooms.look_up(message)
            reaction = await self._rooms.reaction_to(message)
            if reaction is not Reaction.NONE:
                return await self._admit(message, reaction, messages)
        return Heard.NOTHING

    async def _admit(
        self, message: discord.Message, reaction: Reaction, messages: Sequence[discord.Message]
    ) -> Heard:
        if not await self._may_talk(message):
            return await self._refuse(message)
        for each in messages:
            each.author = message.author  # by the same name, though it was read later
        written = message.created_at.timestamp()
        match self._rate.ask(message.author.id, written, message=message.id):
            case Verdict.ANSWER:
                return await self._take(message, reaction, messages)
            case Verdict.TELL:
                await self._say(message, TOO_FAST)
            case Verdict.SILENT:
                pass
        return Heard.TAKEN

    async def _take(
        self, message: discord.Message, reaction: Reaction, messages: Sequence[discord.Message]
    ) -> Heard:
        """Record what was said, or say that there is nothing in it to answer."""
        if not any(map(self._reader.says_something, messages)):
            await self._say(message, EMPTY)
            return Heard.TAKEN
        if reaction is Reaction.ANSWER_HERE:
            recorded = await self._record(messages, place_of_message(message))
        else:
            async with self._locks[message.id]:
                # The thread will have the message's id: what is said there waits for this.
                place = await self._rooms.open(message, self._reader.title(message))
                recorded = await self._record(messages, place)
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
        if guild is None:
            return await self._people.may_talk(message.author, None)
        home = home_of(message, guild)
        return await self._people.may_talk(message.author, home.server_id, home.channel_id)

    async def _record(self, messages: Sequence[discord.Message], place: Place) -> bool:
        """Record what was said and let it be answered; return whether it is on disk."""
        said = await self._reader.read(messages, place)
        if not said:  # all that it does is reply to what is known
            await self._say(messages[0], EMPTY)
            return True
        if messages[0].guild is not None:
            await self._homes.put(place.session_id, home_of(messages[0], messages[0].guild))
        told = await self._recollection.brought(said, place.session_id)
        user_id = user_id_of(messages[0].author.id)
        run = self._agent.run(told, place.session_id, user_id=user_id)
        first = await self._runs.begin(place.session_id, run)
        return not isinstance(first, ErrorEvent)

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
