"""A Discord message, read: what the agent is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import discord

from bot.agent import UserMessage
from bot.events import RecordedEvent, UserMessageEvent
from bot.frontend.ids import Place, source_id_of
from bot.frontend.options import FrontendOptions
from bot.frontend.people import speaker
from bot.frontend.reading.files import FileReader
from bot.frontend.reading.quotes import quotes_of, replied_to
from bot.frontend.text import one_line, readable
from bot.sessions import SessionStore
from bot.sessions.stores.deliveries import DeliveryStore


class MessageReader:
    """Turns messages into what the agent takes."""

    def __init__(
        self,
        *,
        client: discord.Client,
        store: SessionStore,
        deliveries: DeliveryStore,
        options: FrontendOptions,
    ) -> None:
        self._client = client
        self._store = store
        self._deliveries = deliveries
        self._files = FileReader(
            store, limit=options.attachment_bytes, sees_images=options.sees_images
        )

    def says_something(self, message: discord.Message) -> bool:
        """Whether there is anything in a message to answer."""
        return bool(
            self.text(message)
            or message.attachments
            or target_of(message)
            or next(quotes_of(message), None)
        )

    def title(self, message: discord.Message) -> str:
        """Return what a message is about, for the name of a thread."""
        forwarded = (each.content for each in message.message_snapshots)
        files = (file.filename for file in message.attachments)
        return next(filter(None, chain([self.text(message)], forwarded, files)), "")

    def text(self, message: discord.Message) -> str:
        """Return a message's own text, with names for mentions and without the bot's."""
        own = {f"<@{self._client.user.id}>"} if self._client.user else set()
        if message.guild is not None and message.guild.self_role is not None:
            own.add(message.guild.self_role.mention)
        names = {("@", user.id): user.display_name for user in message.mentions}
        names |= {("@&", role.id): role.name for role in message.role_mentions}
        names |= {("#", channel.id): channel.name for channel in message.channel_mentions}
        return readable(message.content, frozenset(own), lambda *key: names.get(key))

    async def read(self, messages: Sequence[discord.Message], place: Place) -> list[UserMessage]:
        """Read messages and keep their files; those that say nothing are left out.

        Raises:
            StorageError: if a file cannot be stored, or the session not be read.
        """
        read = [await self._read(each, place) for each in messages]
        return [each for each in read if not each.is_empty]

    def unread(self, message: discord.Message, place: Place) -> UserMessage:
        """Return a message whose files are not read: it came too late."""
        names = (one_line(file.filename, 100) for file in message.attachments)
        notes = tuple(f"The file {name} was not read." for name in names)
        return UserMessage(
            text=self.text(message),
            author=speaker(message.author, place),
            source_id=source_id_of(message.id),
            quotes=tuple(quotes_of(message)),
            notes=notes,
        )

    async def _read(self, message: discord.Message, place: Place) -> UserMessage:
        target = await self._unknown_target(message, place.session_id)
        quotes = [replied_to(target, self.text(target))] if target else []
        files = await self._files.read(_files(message, target))
        return UserMessage(
            text=self.text(message),
            author=speaker(message.author, place),
            source_id=source_id_of(message.id),
            quotes=(*quotes, *quotes_of(message)),
            attachments=files.kept,
            notes=files.notes,
        )

    async def _unknown_target(
        self, message: discord.Message, session_id: str
    ) -> discord.Message | None:
        """Return the message that this one replies to, unless the model sees it anyway."""
        target = target_of(message)
        if target is None:
            return None
        session = await self._store.get(session_id)
        events = session.events if session else ()
        source_id = source_id_of(target.id)
        if any(isinstance(e, UserMessageEvent) and e.source_id == source_id for e in events):
            return None
        turn_id = await self._turn_shown_by(target, session_id, events)
        return None if any(e.turn_id == turn_id for e in events if turn_id) else target

    async def _turn_shown_by(
        self, target: discord.Message, session_id: str, events: Sequence[RecordedEvent]
    ) -> str:
        """Return the turn of a session that a message shows something of, "" for none."""
        shows = await self._deliveries.by_message(target.id)
        if shows is not None:
            return shows.turn_id if shows.session_id == session_id else ""
        if target.author != self._client.user or not events:
            return ""
        # Somebody may reply before it is noted under which id their answer was sent, or meanwhile.
        sent = await self._deliveries.of(session_id, [events[-1].turn_id])
        return next((each.turn_id for each in sent if each.message_id in (None, target.id)), "")


def target_of(message: discord.Message) -> discord.Message | None:
    """Return the message that another one replies to, if Discord told it and it is there."""
    reference = message.reference
    resolved = reference.resolved if reference else None
    return resolved if isinstance(resolved, discord.Message) else None


def _files(message: discord.Message, target: discord.Message | None) -> list[discord.Attachment]:
    """Return a message's own files, and those of what it forwards and what it replies to."""
    forwarded = [file for each in message.message_snapshots for file in each.attachments]
    return [*message.attachments, *forwarded, *(target.attachments if target else ())]
