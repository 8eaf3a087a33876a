"""Deleting conversations: when their time is over, and when their place in Discord is gone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from datetime import timedelta

import discord

from bot.agent import Agent
from bot.errors import OtherApplicationError, StorageError
from bot.events import utc_now
from bot.frontend.hearing.rooms import no_thread
from bot.frontend.ids import Place, PlaceKind, place_of
from bot.frontend.own.pruning import Pruning
from bot.frontend.own.purges import Purges
from bot.frontend.refusals import DiscordError, PlaceGoneError, RefusedError, asked
from bot.frontend.shards import Shards
from bot.sessions import SessionStore
from bot.sessions.stores.applications import ApplicationStore
from bot.sessions.stores.homes import HomeStore
from bot.sessions.stores.lifetimes import Lifetime, is_over
from bot.sessions.stores.marks import MarkStore
from bot.sessions.stores.places import PlaceStore

logger = logging.getLogger(__name__)

EVERY = 3600.0  # seconds
PAGE = 500
THREADS = 25  # of each server, that are asked for at a time: no event tells what went meanwhile
UNREFERRED = timedelta(hours=1)  # bytes are handed in before what tells of them is recorded
UNKNOWN_SERVER, NO_ACCESS = 10004, 50001


class Retention:
    """Looks once an hour what is over or gone, and hears what goes in between.

    A place counts as gone only if Discord says so; a server that has an outage is not gone. Nor is
    one that this application was never seen in, nor anything in another application's database.
    """

    def __init__(
        self,
        *,
        client: discord.Client,
        agent: Agent,
        store: SessionStore,
        homes: HomeStore,
        places: PlaceStore,
        marks: MarkStore,
        purges: Purges,
        applications: ApplicationStore,
        shards: Shards,
        pruning: Pruning,
        lifetime: Lifetime,
    ) -> None:
        self._client = client
        self._agent = agent
        self._store = store
        self._homes = homes
        self._places = places
        self._marks = marks
        self._purges = purges
        self._applications = applications
        self._shards = shards
        self._pruning = pruning
        self._lifetime = lifetime
        self._looking = asyncio.Lock()

    async def keep_looking(self) -> None:
        """Look now and once an hour, for ever."""
        while True:
            try:
                await self.look()
            except (StorageError, DiscordError, OtherApplicationError) as exc:
                logger.warning("what is over is deleted later: %s", exc)
            await asyncio.sleep(EVERY)

    async def look(self) -> None:
        """Delete what is over, and what is gone."""
        async with self._looking:
            await self._look()

    async def _look(self) -> None:
        """Do first what needs no Discord: that may not answer."""
        await self._check_owner()
        deleted = await self._expire() if self._lifetime.any else 0
        await self._store.drop_blobs(utc_now() - UNREFERRED)
        await self._pruning.prune(utc_now())
        await self._purges.purge_if_due()
        unseen = await self._applications.unseen()
        for server in filter(self._shards.has, await self._homes.servers()):
            deleted += await self._look_at(server, unseen=server in unseen)
        if deleted:
            logger.info("%s conversations were deleted", deleted)

    # -- what Discord tells ------------------------------------------------------------------------

    async def channel_gone(self, channel_id: int) -> None:
        """Delete what was said in a channel that was deleted, and in its threads."""
        await self._purged(self._delete_channel(channel_id))

    async def thread_gone(self, thread_id: int) -> None:
        """Delete what was said in a thread that was deleted."""
        session_id = Place(PlaceKind.THREAD, thread_id).session_id
        await self._purged(self._delete(session_id))

    async def server_joined(self, server_id: int) -> None:
        """Note that the bot is in a server."""
        await self._applications.seen_in(server_id)

    async def server_gone(self, server_id: int) -> None:
        """Delete what was said in a server that the bot is in no more."""
        await self._check_owner()
        await self._purged(self._delete_server(server_id))

    async def _purged(self, deleting: Awaitable[int]) -> None:
        if await deleting:
            await self._purges.purge()

    # -- looking -----------------------------------------------------------------------------------

    async def _expire(self) -> int:
        deleted, now = 0, utc_now()
        page = await self._store.sessions_after(limit=PAGE)
        while page:
            over = [
                each
                for each in page
                if is_over(
                    self._lifetime, created=each.created_at, updated=each.updated_at, now=now
                )
            ]
            if over:
                await self._purges.owe_within_a_day()
            for each in over:
                deleted += await self._store.delete(each.session_id, idle_since=each.updated_at)
            page = await self._store.sessions_after(page[-1].session_id, limit=PAGE)
        return deleted

    async def _check_owner(self) -> None:
        """Raise if the database was given to another application, which may be in other servers."""
        await self._applications.check(self._client.application_id or 0)

    async def _look_at(self, server: int, *, unseen: bool) -> int:
        guild = self._client.get_guild(server)
        if guild is None:
            gone = not unseen and await self._is_left(server)
            return await self._delete_server(server) if gone else 0
        if unseen:
            await self._applications.seen_in(server)
        if guild.unavailable:
            return 0
        deleted = 0
        for channel in await self._homes.channels(server):
            if guild.get_channel(channel) is None and await self._is_gone(channel):
                deleted += await self._delete_channel(channel)
        return deleted + await self._look_at_threads(server)

    async def _look_at_threads(self, server: int) -> int:
        """Ask for some of a server's threads, each time for the next ones."""
        deleted, mark = 0, _looked_at(server)
        after = await self._marks.get(mark) or ""
        page = await self._homes.sessions_in(server, after=after, limit=THREADS)
        for session_id in page:
            place = place_of(session_id)
            if place and place.kind is PlaceKind.THREAD and await self._is_gone(place.channel_id):
                deleted += await self._delete(session_id)
        if len(page) == THREADS:
            await self._marks.set(mark, page[-1])
        elif after:
            await self._marks.remove(mark)
        return deleted

    async def _is_gone(self, channel_id: int) -> bool:
        try:
            await asked(lambda: self._client.fetch_channel(channel_id))
        except PlaceGoneError:
            return True
        except RefusedError:
            return False
        return False

    async def _is_left(self, server: int) -> bool:
        try:
            await asked(lambda: self._client.fetch_guild(server))
        except RefusedError as exc:
            return exc.code in (UNKNOWN_SERVER, NO_ACCESS)
        return False

    # -- deleting ----------------------------------------------------------------------------------

    async def _delete_server(self, server: int) -> int:
        await self._marks.remove(_looked_at(server))
        deleted = 0
        for channel in await self._homes.channels(server):
            deleted += await self._delete_channel(channel)
        return deleted

    async def _delete_channel(self, channel: int) -> int:
        await self._marks.remove(no_thread(channel))
        deleted = 0
        while page := await self._homes.sessions_on(channel):
            for session_id in page:
                deleted += await self._delete(session_id)
        return deleted

    async def _delete(self, session_id: str) -> int:
        """End what is open in a session and delete it; its home goes in either case."""
        await self._purges.owe_within_a_day()
        deleted = await self._agent.delete(session_id, by="Discord")
        await self._homes.remove(session_id)
        place = place_of(session_id)
        if place is not None:
            await self._places.forget(place.channel_id)
        return int(deleted)


def _looked_at(server_id: int) -> str:
    """Return the mark of the session up to which a server's threads were asked for."""
    return f"looked-at-{server_id}"
