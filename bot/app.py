"""Opens every resource, runs the bot, and closes in reverse.

Recovery begins when the client is ready, and draining is how the client closes; both are its own.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from bot.agent import Agent
from bot.agent.usage.metering import StoredMeter
from bot.config import DEFAULT_TOOLS, Settings
from bot.ending import Ending, ending
from bot.joining.agent import make_agent
from bot.joining.monitoring import make_metrics, serve_metrics
from bot.joining.resources import make_provider, make_store
from bot.joining.tools import OF_DISCORD, OWN, TOOLS, chosen_tools, read_policy
from bot.mcp import open_servers
from bot.providers import Provider
from bot.sessions import SQLSessionManager
from bot.sessions.stores.homes import HomeStore
from bot.sessions.stores.usage import UsageStore
from bot.storage.claim import claimed
from bot.watchdog import watched

if TYPE_CHECKING:
    from bot.frontend import ParleyClient
    from bot.monitoring.prometheus import PrometheusMetrics

logger = logging.getLogger(__name__)

LAST_SECONDS = 15.0
"""How long closing may take at most, after the running turns had their time."""

SERVER_SECONDS = 120.0
"""How long a database server may be away at a start: after a power cut it begins with us."""


@asynccontextmanager
async def open_agent(settings: Settings) -> AsyncIterator[tuple[Agent, SQLSessionManager]]:
    """Open an agent without Discord, for a terminal."""
    for name in OF_DISCORD.intersection(settings.tools).difference(DEFAULT_TOOLS):
        logger.warning("TOOLS: %s needs Discord, so there is none here", name)
    async with AsyncExitStack() as stack:
        provider, store = await _open_parts(stack, settings)
        tools = chosen_tools(settings, TOOLS)
        meter = StoredMeter(usage=UsageStore(store.database), homes=HomeStore(store.database))
        servers = await stack.enter_async_context(open_servers(settings.mcp_servers))
        agent = make_agent(
            settings, provider=provider, store=store, tools=tools, toolsets=[servers], meter=meter
        )
        yield agent, store


@asynccontextmanager
async def open_app(
    settings: Settings, metrics: PrometheusMetrics | None = None
) -> AsyncIterator[ParleyClient]:
    """Open the bot, ready to be connected; discord.py is imported only now.

    Closing it takes nothing new, lets running turns finish for a bounded time, and leaves the
    rest open in the log.

    Raises:
        ConfigError: if another bot works with the file.
        StorageError: if the database cannot be opened.
    """
    await asyncio.to_thread(preload)
    from bot.frontend import (
        ParleyClient,
        ServerPolicy,
        ServerProfiles,
        SettingsBook,
        Stores,
        make_meter,
        may_decide,
    )
    from bot.frontend.tools import discord_tools, stored_tools
    from bot.joining.frontend import frontend_options, operator_of

    async with AsyncExitStack() as stack:
        if not settings.database_url.get_secret_value():
            stack.enter_context(claimed(settings.database))
        provider, store = await _open_parts(stack, settings)
        options, stores = frontend_options(settings), Stores.beside(store)
        book = SettingsBook(stores.settings, operator_of(settings, options))
        servers = await stack.enter_async_context(open_servers(settings.mcp_servers))

        policy = ServerPolicy(homes=stores.homes, changes=stores.policies, off=OF_DISCORD - OWN)

        def agent_for(client: Any) -> Agent:
            known = {**TOOLS, **discord_tools(client), **stored_tools(stores)}
            tools = chosen_tools(settings, known)
            policy.file = read_policy(settings, tools)
            return make_agent(
                settings,
                provider=provider,
                store=store,
                tools=tools,
                meter=make_meter(
                    stores,
                    options,
                    lambda *who: client.people.actor_of(*who),
                    settings=book,
                ),
                toolsets=[servers],
                may_decide=lambda request, actor: may_decide(options, actor),
                profiles=ServerProfiles(homes=stores.homes, book=book),
                policy=policy,
            )

        client = ParleyClient(
            make_agent=agent_for,
            stores=stores,
            options=options,
            settings=book,
            metrics=metrics,
            policy=policy,
        )
        await stack.enter_async_context(client)
        if metrics is not None:
            await stack.enter_async_context(serve_metrics(settings, metrics, client, store))
        yield client


async def run_bot(settings: Settings) -> None:
    """Be in Discord until a signal says to stop; the process has to end after this.

    Raises:
        ConfigError: if Discord refuses the token or the intents, or another bot has the database.
        ParleyError: if Discord or the database cannot be reached.
    """
    metrics = make_metrics(settings)
    noted = watched(metrics.loop_lag) if metrics else watched()
    with ending(settings.shutdown_seconds + LAST_SECONDS) as end, noted:
        async with AsyncExitStack() as stack:
            opening = stack.enter_async_context(open_app(settings, metrics))
            client = await end.unless_asked(opening)
            if client is not None:
                gc.freeze()  # what was imported stays: to look through it takes 50 ms each time
                await _stay(client, settings.discord_token.get_secret_value(), end)


async def _stay(client: ParleyClient, token: str, end: Ending) -> None:
    """Be connected until a signal comes; the connection lasts until the client is closed."""
    from bot.frontend.connection.connect import connect

    connection = asyncio.create_task(connect(client, token), name="connection")
    stopping = asyncio.create_task(end.asked.wait(), name="stopping")
    try:
        await asyncio.wait({connection, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if connection.done():
            await connection
    except BaseException as exc:
        end.failed(exc)
        raise
    finally:
        await client.close()
        for task in (connection, stopping):
            task.cancel()
        await asyncio.wait({connection, stopping})


def preload() -> None:
    """Import all that takes long: best before there is an event loop to hold up."""
    import bot.frontend.connection.connect
    import bot.frontend.tools
    import bot.providers.sdk
    import bot.storage.connection  # noqa: F401 - used by whoever imports them again


async def _open_parts(
    stack: AsyncExitStack, settings: Settings
) -> tuple[Provider, SQLSessionManager]:
    provider, store = make_provider(settings), make_store(settings)
    stack.push_async_callback(store.close)
    stack.push_async_callback(provider.close)
    await store.database.wait(SERVER_SECONDS)
    await store.initialize()
    await provider.open()
    return provider, store
