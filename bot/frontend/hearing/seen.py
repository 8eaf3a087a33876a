"""Up to which message each place was read: in memory, and now and then on disk."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

import discord

from bot.errors import StorageError
from bot.events import utc_now
from bot.sessions.stores.places import PlaceStore

logger = logging.getLogger(__name__)

FLUSH_EVERY = 60.0  # seconds
QUIET = timedelta(days=90)
"""After what time without a message it is not noted any more up to where a place was read.

It begins anew like one that was never seen: after longer downtime nobody is told what was skipped.
"""
BEGINNING = 0  # no channel has this id: it stands for when the store was begun


class Seen:
    """For each place the message up to which everything was recorded or needs no answer.

    What was answered is noted on disk at once, and the chatter of others once a minute and at the
    end: to read some of that again does no harm.
    """

    def __init__(self, places: PlaceStore) -> None:
        self._places = places
        self._known: dict[int, int] = {}
        self._unwritten: dict[int, int] = {}

    async def load(self) -> None:
        """Read what is on disk; an empty store begins now, and what was before is not caught up.

        Raises:
            StorageError: if it cannot be read or written.
        """
        self._known = dict(await self._places.all())
        if not self._known:
            self._known[BEGINNING] = id_at(utc_now())
            await self._places.mark_seen(BEGINNING, self._known[BEGINNING])

    @property
    def beginning(self) -> int:
        """The message id before which nothing is caught up."""
        return self._known.get(BEGINNING, 0)

    def of(self, channel_id: int) -> int | None:
        """Return up to which message a place was read, `None` for one never seen."""
        return self._known.get(channel_id)

    def note(self, channel_id: int, message_id: int) -> None:
        """Note that everything up to a message was seen; never goes back."""
        if message_id > self._known.get(channel_id, 0):
            self._known[channel_id] = self._unwritten[channel_id] = message_id

    async def flush(self, channel_ids: Iterable[int] | None = None) -> None:
        """Write what is noted, of some places or of all; what cannot be written is kept."""
        wanted = self._unwritten if channel_ids is None else channel_ids
        writing = {each: self._unwritten[each] for each in wanted if each in self._unwritten}
        try:
            await self._places.mark_all(writing)
        except StorageError as exc:
            logger.warning("how far was read cannot be noted: %s", exc)
            return
        for channel_id, message_id in writing.items():
            if self._unwritten.get(channel_id) == message_id:
                del self._unwritten[channel_id]

    async def keep_flushing(self) -> None:
        """Write what is noted once a minute, for ever."""
        while True:
            await asyncio.sleep(FLUSH_EVERY)
            await self.flush()


def id_at(moment: datetime) -> int:
    """Return the id that a message of this moment has at least."""
    return discord.utils.time_snowflake(moment)
