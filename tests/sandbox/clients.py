"""Who talks to the sandbox in tests: a real client of discord.py, and raw HTTP."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import discord

from bot.sandbox import Bot, Channel, Guild, Person, Sandbox, World


@dataclass
class Home:
    """The world that most tests start from."""

    world: World
    guild: Guild
    general: Channel
    bot: Bot
    alice: Person
    mod: Person


def make_home(**options: Any) -> Home:
    world = World(**options)
    guild = world.guild("Home")
    general = guild.channel("general")
    bot, alice, mod = world.bot("Parley"), world.person("alice"), world.person("mod")
    guild.join(bot)
    guild.join(alice)
    guild.join(mod, permissions={"MANAGE_GUILD", "MANAGE_MESSAGES", "MANAGE_THREADS"})
    return Home(world, guild, general, bot, alice, mod)


class Client(discord.AutoShardedClient):
    """A client that a test gives its handlers."""

    def __init__(self, intents: discord.Intents | None = None, **options: Any) -> None:
        super().__init__(
            intents=intents or discord.Intents.all(), guild_ready_timeout=0.05, **options
        )
        self.tree = discord.app_commands.CommandTree(self)
        self.heard: list[discord.Message] = []
        self.failures: list[BaseException | None] = []
        self.answer: Callable[[discord.Message], Awaitable[Any]] | None = None

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Skip the five seconds that discord.py waits before it identifies again."""

    async def on_error(self, event: str, *args: Any, **kwargs: Any) -> None:
        self.failures.append(sys.exception())

    async def on_message(self, message: discord.Message) -> None:
        self.heard.append(message)
        if self.answer is not None and message.author != self.user:
            await self.answer(message)


@asynccontextmanager
async def running(client: discord.Client, bot: Bot) -> AsyncIterator[None]:
    """Keep a client logged in while the block lasts."""
    async with client:
        task = asyncio.create_task(client.start(bot.token))
        ready = asyncio.create_task(client.wait_until_ready())
        await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            ready.cancel()
            task.result()
        yield
    await task
    assert not getattr(client, "failures", None)


class Http:
    """The bot's token in the hands of a test that writes its own requests."""

    def __init__(self, session: aiohttp.ClientSession, sandbox: Sandbox) -> None:
        self.session, self.sandbox = session, sandbox

    async def __call__(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """Return (status, body) of a request."""
        if body is not None:
            more["json"] = body
        url = self.sandbox.api_base + path
        async with self.session.request(method, url, **more) as response:
            empty = response.status == 204
            return response.status, None if empty else await response.json()
