"""The Discord client: what it hears, it hands on to the part that knows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import ExitStack

import discord

from bot.agent import Agent
from bot.frontend.api_base import api_base, learn_gateway
from bot.frontend.cards import Approve, Deny, Stop
from bot.frontend.commands import add_commands
from bot.frontend.options import DISCORD_API, FrontendOptions
from bot.frontend.outbox import NOBODY
from bot.frontend.tree import Tree
from bot.frontend.wiring import wire
from bot.sessions import SessionStore
from bot.sessions.deliveries import DeliveryStore
from bot.sessions.marks import MarkStore
from bot.sessions.places import PlaceStore

logger = logging.getLogger(__name__)

LAST_WORDS = 5.0  # seconds to show, when closing, what has been recorded


class ParleyClient(discord.AutoShardedClient):
    """Parley in Discord. `async with` it, and `start` it with a token.

    Args:
        make_agent: Makes the agent; it is given this client, for tools that need Discord.
        store: Where sessions live.
        deliveries: Which message shows what.
        places: Up to where each place was read.
        marks: What was told once.
        options: Everything that can be configured.
    """

    def __init__(
        self,
        *,
        make_agent: Callable[[discord.Client], Agent],
        store: SessionStore,
        deliveries: DeliveryStore,
        places: PlaceStore,
        marks: MarkStore,
        options: FrontendOptions,
    ) -> None:
        super().__init__(
            intents=_intents(),
            allowed_mentions=NOBODY,
            max_messages=None,
            guild_ready_timeout=options.guilds_within,
        )
        self.options = options
        self.agent = make_agent(self)
        self.tree = Tree(self)
        self._marks = marks
        self._lifetime = ExitStack()
        self._recovered = False
        self._closing: asyncio.Task[None] | None = None

        self._parts = wire(
            self,
            self.agent,
            store=store,
            deliveries=deliveries,
            places=places,
            marks=marks,
            options=options,
        )
        self.control, self.people = self._parts.control, self._parts.people

    async def __aenter__(self) -> ParleyClient:
        if self.options.api_base != DISCORD_API:
            self._lifetime.enter_context(api_base(self.options.api_base))
        await super().__aenter__()
        return self

    async def setup_hook(self) -> None:
        """Get ready between the login and the first event."""
        await learn_gateway(self)
        add_commands(self.tree, self.control, self.people)
        self.add_dynamic_items(Approve, Deny, Stop)
        await self.tree.sync_if_changed(self._marks)

    async def on_ready(self) -> None:
        """Go on with what was left open; Discord may say that it is ready more than once."""
        if not self._recovered and self._closing is None:
            self._recovered = True
            self._parts.work.start(self._parts.recovery.recover(), name="recovery")

    async def on_message(self, message: discord.Message) -> None:
        """Hand a message on."""
        if self._closing is None:
            hearing = self._parts.inbox.hear(message)
            await self._parts.work.task(hearing, name=f"message {message.id}")

    async def close(self) -> None:
        """Take nothing new, let running turns finish for a while, and leave the rest open."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            await self._let_finish()
        finally:
            await super().close()
            self._lifetime.close()

    async def _let_finish(self) -> None:
        parts = self._parts
        parts.expiry.close()
        if not await parts.work.finish(self.options.drain_seconds):
            logger.info("some turns are left open; the next start goes on with them")
        self.agent.suspend()
        await parts.work.cancel()
        parts.showing.start(parts.previews.close(), name="the end of the previews")
        await parts.showing.finish(LAST_WORDS)
        await parts.showing.cancel()


def _intents() -> discord.Intents:
    intents = discord.Intents.none()
    intents.guilds = True
    intents.guild_messages = True
    intents.dm_messages = True
    intents.message_content = True
    return intents
