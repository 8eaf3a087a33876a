"""The Discord client: what it hears, it hands on to the part that knows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import ExitStack

import discord

from bot.agent import Agent
from bot.frontend.api_base import api_base, learn_gateway
from bot.frontend.cards import buttons
from bot.frontend.commands import add_commands
from bot.frontend.control import Control
from bot.frontend.deliverer import Deliverer
from bot.frontend.expiry import Expiry
from bot.frontend.inbox import Inbox
from bot.frontend.options import DISCORD_API, FrontendOptions
from bot.frontend.outbox import NOBODY, Outbox
from bot.frontend.people import People
from bot.frontend.preview import Previews
from bot.frontend.reconcile import Reconciler
from bot.frontend.recovery import Recovery
from bot.frontend.rooms import Rooms
from bot.frontend.runs import Runs
from bot.frontend.tasks import Tasks
from bot.frontend.tree import Tree
from bot.frontend.trouble import Trouble
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
        self._work, self._showing = Tasks(), Tasks()
        self._recovered = False
        self._closing: asyncio.Task[None] | None = None

        people, outbox = People(self, options), Outbox(self)
        deliverer = Deliverer(outbox=outbox, deliveries=deliveries)
        previews = Previews(
            write=deliverer.preview, interval=options.edit_interval, tasks=self._showing
        )
        self._expiry = Expiry(self._expired)
        reconciler = Reconciler(
            store=store,
            deliveries=deliveries,
            deliverer=deliverer,
            previews=previews,
            trouble=Trouble(client=self, store=store, outbox=outbox),
            expiry=self._expiry.arm,
            tasks=self._showing,
        )
        self._runs = Runs(
            store=store,
            outbox=outbox,
            previews=previews,
            reconciler=reconciler,
            tasks=self._work,
        )
        self._control = Control(
            agent=self.agent,
            store=store,
            runs=self._runs,
            reconciler=reconciler,
            options=options,
        )
        self._recovery = Recovery(
            agent=self.agent,
            store=store,
            deliveries=deliveries,
            runs=self._runs,
            reconciler=reconciler,
        )
        rooms = Rooms(client=self, store=store, marks=marks, outbox=outbox, options=options)
        self._inbox = Inbox(
            client=self,
            agent=self.agent,
            store=store,
            places=places,
            marks=marks,
            people=people,
            rooms=rooms,
            runs=self._runs,
            outbox=outbox,
            options=options,
        )
        self._people = people

    async def __aenter__(self) -> ParleyClient:
        if self.options.api_base != DISCORD_API:
            self._lifetime.enter_context(api_base(self.options.api_base))
        await super().__aenter__()
        return self

    async def setup_hook(self) -> None:
        """Get ready between the login and the first event."""
        await learn_gateway(self)
        add_commands(self.tree, self._control, self._people)
        self.add_dynamic_items(*buttons(self._control, self._people))
        await self.tree.sync_if_changed(self._marks)

    async def on_ready(self) -> None:
        """Go on with what was left open; Discord may say that it is ready more than once."""
        if not self._recovered and self._closing is None:
            self._recovered = True
            self._work.start(self._recovery.recover(), name="recovery")

    async def on_message(self, message: discord.Message) -> None:
        """Hand a message on."""
        if self._closing is None:
            await self._work.task(self._inbox.hear(message), name=f"message {message.id}")

    def _expired(self, session_id: str) -> None:
        self._runs.start(session_id, self.agent.resume(session_id))

    async def close(self) -> None:
        """Take nothing new, let running turns finish for a while, and leave the rest open."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            self._expiry.close()
            if not await self._work.finish(self.options.drain_seconds):
                logger.info("some turns are left open; the next start goes on with them")
            self.agent.suspend()
            await self._work.cancel()
            await self._showing.finish(LAST_WORDS)
            await self._showing.cancel()
        finally:
            await super().close()
            self._lifetime.close()


def _intents() -> discord.Intents:
    intents = discord.Intents.none()
    intents.guilds = True
    intents.guild_messages = True
    intents.dm_messages = True
    intents.message_content = True
    return intents
