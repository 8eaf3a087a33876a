"""Who talks to the sandbox in tests: a real client of discord.py, and raw HTTP."""

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import discord
from discord.gateway import KeepAliveHandler

from bot.sandbox import Bot, Channel, Guild, Intents, Person, Sandbox, World

PATIENCE = 30.0  # seconds; only what fails takes them
EVERYTHING = Intents(Intents.GUILDS | Intents.GUILD_MESSAGES | Intents.DIRECT_MESSAGES)
EVERYTHING |= Intents.MESSAGE_CONTENT


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
    if "clock" not in options:  # a busy machine may take longer than Discord would wait
        options = {"ack_timeout": PATIENCE, **options}
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

    async def close(self) -> None:
        await super().close()
        await silent()

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


async def silent() -> None:
    """Wait until no client beats for this loop any more.

    discord.py beats in a thread for each connection, tells it to end and does not wait for that: a
    beat after the loop is closed fails in the thread.
    """
    for thread in beating():
        thread.stop()
        await asyncio.to_thread(thread.join)


def beating() -> list[KeepAliveHandler]:
    """Return the threads in which clients beat for this loop."""
    loop, threads = asyncio.get_running_loop(), threading.enumerate()
    beats = [each for each in threads if isinstance(each, KeepAliveHandler)]
    return [each for each in beats if each.ws.loop is loop]


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

    async def whole(self, method: str, path: str, body: Any = None) -> "Whole":
        """Return everything about the answer to a request."""
        url = self.sandbox.api_base + path
        async with self.session.request(method, url, json=body) as response:
            return Whole(response.status, response.headers, await response.text())


@dataclass
class Whole:
    """An answer with its headers."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Line:
    """A raw connection to the gateway."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.hello: Any = None

    async def says(self, op: int, data: Any = None) -> None:
        await self.socket.send_json({"op": op, "d": data})

    async def identifies(self, home: Home, intents: int, **more: Any) -> None:
        await self.says(2, {"token": home.bot.token, "intents": intents, "properties": {}} | more)

    async def hears(self, event: str | None = None) -> Any:
        """Return the next frame, or the data of the next such event."""
        while True:
            frame = await self.socket.receive_json(timeout=PATIENCE)
            if event is None:
                return frame
            if frame["t"] == event:
                return frame["d"]

    async def begins(self, home: Home, intents: int = EVERYTHING) -> str:
        """Identify, hear of the guilds, and return the session's id."""
        await self.identifies(home, intents)
        session_id: str = (await self.hears("READY"))["session_id"]
        for _ in home.world.guilds:
            await self.hears("GUILD_CREATE")
        return session_id

    async def resumes(self, home: Home, session_id: str, seq: Any) -> None:
        await self.says(6, {"token": home.bot.token, "session_id": session_id, "seq": seq})

    async def closes(self) -> int | None:
        """Return the code that the other side hung up with."""
        while (await self.socket.receive(timeout=PATIENCE)).type is aiohttp.WSMsgType.TEXT:
            pass
        return self.socket.close_code


@asynccontextmanager
async def connected(sandbox: Sandbox) -> AsyncIterator[Line]:
    """Keep a raw connection to the gateway open while the block lasts."""
    url = sandbox.gateway_url + "?v=10&encoding=json"
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
        line = Line(socket)
        line.hello = await line.hears()
        assert line.hello["op"] == 10
        yield line
