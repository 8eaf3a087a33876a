"""The messages of each place, one after the other: what was missed before what comes now."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import timedelta

import discord

from bot.errors import StorageError
from bot.events import utc_now
from bot.frontend.hearing import seen
from bot.frontend.hearing.bursts import Bursts, joined
from bot.frontend.hearing.inbox import Heard, Inbox
from bot.frontend.hearing.missed import Channel, between, is_readable, newer
from bot.frontend.hearing.seen import Seen, id_at
from bot.frontend.locks import Locks
from bot.frontend.people import is_from_a_person
from bot.frontend.refusals import DiscordError, UnavailableError

logger = logging.getLogger(__name__)

REMEMBERED = 10_000  # messages: a resumed connection says again what it may have said


class Arrivals:
    """Hands on each message once, in the order of its place.

    A place is current when everything before the next event of it was heard. After a connection
    that is not resumed none is; then what was missed is read before anything else is heard there.

    Attributes:
        behind: Places that could not be read, or of which a message could not be recorded.
    """

    def __init__(
        self,
        *,
        client: discord.Client,
        inbox: Inbox,
        seen: Seen,
        locks: Locks[int],
        window: timedelta,
        on_behind: Callable[[], None],
    ) -> None:
        self.behind: dict[int, Channel] = {}
        self._client = client
        self._inbox = inbox
        self._seen = seen
        self._locks = locks
        self._window = window
        self._on_behind = on_behind
        self._bursts = Bursts()
        self._current: set[int] = set()
        self._known: OrderedDict[int, None] = OrderedDict()
        self._closed = False

    def begin(self) -> None:
        """Note that a connection begins anew: something may have been missed anywhere."""
        self._current.clear()

    def doubt(self, channel_id: int) -> None:
        """Note that something may have been missed in one place."""
        self._current.discard(channel_id)

    def born(self, channel_id: int) -> None:
        """Note that a place was just made: nothing can have been missed in it."""
        self._current.add(channel_id)

    def close(self) -> None:
        """Hear nothing more of what was missed; the next start does."""
        self._closed = True

    async def arrived(self, message: discord.Message) -> None:
        """Take a message that was written now, behind what was missed before it."""
        channel = message.channel
        burst = self._bursts.add(message) if is_from_a_person(message, self._client) else [message]
        if not burst:
            return  # it is taken with the message that it continues
        await self._parent_first(channel)
        async with self._locks[channel.id]:
            if await self._is_current(channel):
                await self._take(await self._bursts.whole(burst), channel)

    async def catch_up(self, channel: Channel) -> None:
        """Take what was missed in a place, if anything was."""
        await self._parent_first(channel)
        async with self._locks[channel.id]:
            await self._is_current(channel)

    def is_behind(self, channel: Channel) -> bool:
        """Whether something may have been missed in a place; costs no request."""
        return channel.id not in self._current

    async def _parent_first(self, channel: Channel) -> None:
        """Hear in the channel what may have opened this thread, before what is said in it."""
        if channel.id not in self._current and isinstance(channel, discord.Thread):
            parent = channel.parent
            if isinstance(parent, discord.TextChannel):
                await self.catch_up(parent)

    async def _is_current(self, channel: Channel) -> bool:
        """Take what was missed in a place; return whether nothing more is."""
        if channel.id in self._current:
            return True
        self._current.add(channel.id)  # whoever finds out otherwise meanwhile takes it back
        try:
            await self._read(channel)
        except (UnavailableError, StorageError) as exc:
            logger.warning("what was missed in %s is read later: %s", channel.id, exc)
            self._is_behind(channel)
        except DiscordError as exc:
            logger.warning("what was missed in %s cannot be read: %s", channel.id, exc)
        except Exception:
            logger.exception("what was missed in %s was not read", channel.id)
        if channel.id in self._current:
            self.behind.pop(channel.id, None)
        return channel.id in self._current

    async def _read(self, channel: Channel) -> None:
        last = getattr(channel, "last_message_id", 0)  # 0: of a DM it is not known
        oldest = id_at(utc_now() - self._window)
        read = self._seen.of(channel.id) or self._opened_at(channel)
        after = max(oldest, self._seen.beginning) if read is None else read
        if last is None or 0 < last <= after or not is_readable(channel):
            return
        if after < oldest:
            await self._inbox.skip(await between(self._client, channel, after, oldest))
        async for messages in joined(newer(self._client, channel, max(after, oldest - 1))):
            if self._closed or not await self._take(messages, channel):
                self._is_behind(channel)
                return
        self._seen.note(channel.id, last)

    def _opened_at(self, channel: Channel) -> int | None:
        """Return where a thread begins that the bot has opened: all that is said there is for it.

        Its id is that of the message it was opened for. Of an old one it was noted once how far it
        was read, and what was said there may have been forgotten since.
        """
        own = self._client.user
        is_own = isinstance(channel, discord.Thread) and own and channel.owner_id == own.id
        return channel.id if is_own and channel.id >= id_at(utc_now() - seen.QUIET) else None

    async def _take(self, messages: Sequence[discord.Message], channel: Channel) -> bool:
        """Hear messages that belong together; return whether there is nothing left to do."""
        new = [each for each in messages if each.id not in self._known]
        said = [each for each in new if is_from_a_person(each, self._client)]
        heard = await self._inbox.hear(said) if said else Heard.NOTHING
        if heard is Heard.LATER:
            self._is_behind(channel)
            return False
        for message in new:
            self._remember(message.id)
            self._seen.note(channel.id, message.id)
        if heard is Heard.TAKEN:
            await self._seen.flush([channel.id])
        return True

    def _is_behind(self, channel: Channel) -> None:
        self._current.discard(channel.id)
        self.behind[channel.id] = channel
        if not self._closed:
            self._on_behind()

    def _remember(self, message_id: int) -> None:
        self._known[message_id] = None
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
