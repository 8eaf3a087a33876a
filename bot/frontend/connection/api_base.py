"""Pointing discord.py at another address than Discord's.

discord.py has no setting for it. Every request of both of its HTTP layers, that of the client and
that of interactions, is made from a `Route`, whose base is an attribute of the class; so that is
what is changed here, for the process, and changed back. The gateway's address is asked for at the
first connection only; later ones fall back to a constant, which is changed as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot.frontend.options import DISCORD_API


@contextmanager
def api_base(base: str) -> Iterator[None]:
    """Send this process's requests to another base, such as ``http://127.0.0.1:8080/api/v10``."""
    before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    Route.BASE = base.rstrip("/")
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = before


async def learn_gateway(client: discord.Client) -> int:
    """Ask how to connect, and return how many shards may identify at once.

    Reconnections use the gateway that the other base names. A client that was not told how many
    shards there are has as many as are recommended.
    """
    recommended, url, limits = await client.http.get_bot_gateway()
    if Route.BASE != DISCORD_API:
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(url)
    if client.shard_count is None:
        client.shard_count = recommended
    return int(limits["max_concurrency"])
