"""The Discord client: what it hears, it hands on to the part that knows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from typing import Any

import aiohttp
import discord

from bot.agent import Agent
from bot.errors import StorageError
from bot.frontend.approvals.lists import Lists
from bot.frontend.approvals.policies import Policies
from bot.frontend.approvals.policy import ServerPolicy
from bot.frontend.commands.buttons import BUTTONS
from bot.frontend.commands.card_buttons import CARD_BUTTONS
from bot.frontend.commands.card_forms import sent_off
from bot.frontend.commands.conversation import add_commands
from bot.frontend.commands.interactions import place_here
from bot.frontend.commands.lists import add_lists
from bot.frontend.commands.memory import add_memory_command
from bot.frontend.commands.own import OWN_BUTTONS, add_own_commands
from bot.frontend.commands.policy import PolicyCommands
from bot.frontend.commands.schedules import add_schedule_commands
from bot.frontend.commands.settings.command import add_settings
from bot.frontend.commands.settings.desk import SettingsDesk
from bot.frontend.commands.settings.panel import PanelItem
from bot.frontend.commands.taking_back import TakeBack, Undoing
from bot.frontend.commands.tree import Tree
from bot.frontend.commands.usage import add_usage
from bot.frontend.connection.api_base import api_base, learn_gateway
from bot.frontend.connection.leaving import leave
from bot.frontend.connection.patience import make_patient
from bot.frontend.options import DISCORD_API, FrontendOptions
from bot.frontend.own.listing import Listing
from bot.frontend.settings.book import SettingsBook
from bot.frontend.settings.effective import Operator
from bot.frontend.shards import Turnstile
from bot.frontend.showing.acknowledged import heard
from bot.frontend.showing.outbox import NOBODY
from bot.frontend.showing.pacing import Pacing
from bot.frontend.stores import Stores
from bot.frontend.wiring import wire
from bot.monitoring import Metrics

logger = logging.getLogger(__name__)


class ParleyClient(discord.AutoShardedClient):
    """Parley in Discord. `async with` it, and `start` it with a token.

    Args:
        make_agent: Makes the agent; it is given this client, for tools that need Discord.
        stores: What it keeps, and where.
        options: Everything that can be configured.
        settings: What servers have of their own, within what the operator allows.
        metrics: Who hears what happens, in numbers.
        policy: The agent's, as /policy shows and changes it.
    """

    def __init__(
        self,
        *,
        make_agent: Callable[[discord.Client], Agent],
        stores: Stores,
        options: FrontendOptions,
        settings: SettingsBook | None = None,
        metrics: Metrics | None = None,
        policy: ServerPolicy | None = None,
    ) -> None:
        metrics = metrics or Metrics()
        self.pacing = Pacing(metrics=metrics)
        trace = aiohttp.TraceConfig()
        trace.on_request_end.extend([self.pacing.heard, heard])
        super().__init__(
            http_trace=trace,
            intents=_intents(),
            allowed_mentions=NOBODY,
            max_messages=None,
            guild_ready_timeout=options.guilds_within,
            heartbeat_timeout=options.dead_after,
            shard_count=options.shards.count or None,
            shard_ids=sorted(options.shards.ids) or None,  # type: ignore[arg-type]
        )
        self.options = options
        self.agent = make_agent(self)
        self.settings = settings or SettingsBook(stores.settings, Operator(options=options))
        self.settings.tools = lambda: self.agent.tools
        self.tree = Tree(self)
        self._marks = stores.marks
        self._applications = stores.applications
        self._alone = stores.alone
        self._at_once = 1
        rules = policy or ServerPolicy(homes=stores.homes, changes=stores.policies)
        self._lists = Lists(agent=self.agent, stores=stores)
        self._policies = Policies(agent=self.agent, policy=rules, changes=stores.policies)
        self._lifetime = ExitStack()
        self._recovered = False
        self._closing: asyncio.Task[None] | None = None

        self._parts = wire(
            self,
            self.agent,
            stores=stores,
            options=options,
            settings=self.settings,
            pacing=self.pacing,
            metrics=metrics,
        )
        self._turnstile = Turnstile(stores.alone, self._parts.reading, pause=options.identify_pause)
        self.control, self.people = self._parts.control, self._parts.people
        self.tasks, self.last_words = self._parts.work, self._parts.showing
        self.undoing: Undoing = {
            "memory": self._parts.remembering.undo,
            "schedule": self._parts.scheduling.cancel,
        }
        self.forgetting, self.listing = self._parts.forgetting, Listing(self, stores.sessions)
        self._sessions = stores.sessions
        self.settings_desk = SettingsDesk(book=self.settings, people=self.people)
        self.decisions = self._parts.decisions

    @property
    def connected(self) -> bool:
        """Whether it is in Discord, with every shard."""
        shards = self.shards.values()
        return self.is_ready() and not any(shard.is_closed() for shard in shards)

    async def __aenter__(self) -> ParleyClient:
        if self.options.api_base != DISCORD_API:
            self._lifetime.enter_context(api_base(self.options.api_base))
        await super().__aenter__()
        return self

    async def setup_hook(self) -> None:
        """Get ready between the login and the first event, if the database is this application's.

        Raises:
            OtherApplicationError: if it is not; nothing was told to Discord, and nothing changed.
        """
        await self._applications.claim(self.application_id or 0)
        self._at_once = await learn_gateway(self)
        await self._parts.seen.load()
        self._parts.reading.start(self._parts.seen.keep_flushing(), name="noting what was read")
        if self._parts.rescue is not None:
            self._parts.reading.start(self._parts.rescue.keep_looking(), name="minding others")
        add_memory_command(self.tree, self._parts.remembering, self.people)
        add_schedule_commands(self.tree, self._parts.scheduling, self.people)
        add_commands(self.tree, self.control, self.decisions, self.people)
        add_lists(self.tree, self._lists, self.people)
        self.tree.add_command(PolicyCommands(self._policies, self.people))
        add_settings(self.tree, self.settings_desk)
        add_usage(self.tree, self._parts.desk, self.people)
        add_own_commands(
            self.tree,
            forgetting=self.forgetting,
            listing=self.listing,
            store=self._sessions,
            people=self.people,
        )
        self.add_dynamic_items(*BUTTONS, *CARD_BUTTONS, *OWN_BUTTONS, TakeBack, PanelItem)
        async with self._alone("commands"):
            await self.tree.sync_if_changed(self._marks)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait for a shard's turn among those of all processes."""
        bucket = (shard_id or 0) % self._at_once
        try:
            await self._turnstile.enter(f"identify {self.application_id} {bucket}")
        except StorageError as exc:
            logger.warning("other processes cannot be heeded: %s", exc)

    async def on_shard_connect(self, shard_id: int) -> None:
        """Note that a connection begins anew, which says nothing of what was missed.

        discord.py calls this when a session begins, before it hears of any message, and not when
        one is resumed.
        """
        self._parts.arrivals.begin()
        make_patient(self, shard_id, longest=self.options.reconnect_within)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """Catch up with a server that comes late, or was not there for a while."""
        if self._closing is None:
            self._parts.catch_up.doubt(guild)

    async def on_guild_channel_create(self, channel: discord.abc.GuildChannel) -> None:
        """Note that a channel is new."""
        self._parts.arrivals.born(channel.id)

    async def on_thread_create(self, thread: discord.Thread) -> None:
        """Note that a thread is new."""
        self._parts.arrivals.born(thread.id)

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """Delete what was said in a channel that is gone."""
        self._delete(self._parts.retention.channel_gone(channel.id))

    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        """Delete what was said in a thread that is gone."""
        self._delete(self._parts.retention.thread_gone(payload.thread_id))

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """Note that the bot is in a server: one day it may have left it."""
        noting = self._parts.retention.server_joined(guild.id)
        self._parts.work.start(noting, name="noting a server")

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """Delete what was said in a server that was left; an outage is not told in this way."""
        self._delete(self._parts.retention.server_gone(guild.id))

    def _delete(self, deleting: Coroutine[Any, Any, None]) -> None:
        self._parts.work.start(deleting, name="deleting what is gone")

    async def on_ready(self) -> None:
        """Go on with what was left open; Discord may say that it is ready more than once."""
        self._parts.reconciler.retry()
        self._parts.reminders.wake()
        if self._closing is None:
            self._parts.catch_up.wake()
        if not self._recovered and self._closing is None:
            self._recovered = True
            self._parts.work.start(self._parts.recovery.recover(), name="recovery")
            self._parts.reading.start(self._parts.retention.keep_looking(), name="retention")

    async def on_resumed(self) -> None:
        """Show what could not be shown while the connection was gone."""
        self._parts.reconciler.retry()

    async def on_message(self, message: discord.Message) -> None:
        """Hand a message on."""
        if self._closing is None:
            hearing = self._parts.arrivals.arrived(message)
            await self._parts.work.task(hearing, name=f"message {message.id}")

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Take a form that was sent off; clicks and commands have found their way already.

        Another process may act on any of them: that of its shard before a deploy.
        """
        place = place_here(interaction)
        if self._parts.rescue is not None and place is not None:
            self._parts.rescue.mind(place.session_id)
        if interaction.type is discord.InteractionType.modal_submit:
            await sent_off(interaction)
            await self.settings_desk.late(interaction)

    async def close(self) -> None:
        """Take nothing new, let running turns finish for a while, and leave the rest open."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            await leave(self, self.agent, self._parts, self.options.drain_seconds)
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
