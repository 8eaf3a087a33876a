"""What a real client does when its connection to the gateway is troubled."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import aiohttp
import discord
import discord.shard
import pytest
from discord.backoff import ExponentialBackoff

from bot.sandbox import ManualClock, Sandbox
from tests.sandbox.clients import PATIENCE, Client, Home, Http, make_home, running


class Watched(Client):
    """A client that notes what becomes of its connection."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.noted: list[str] = []

    async def on_ready(self) -> None:
        self.noted.append("ready")

    async def on_resumed(self) -> None:
        self.noted.append("resumed")


@pytest.fixture(name="home")
def _home() -> Home:
    return make_home(clock=ManualClock(running=True))


@pytest.fixture
async def client(home: Home, sandbox: Sandbox) -> AsyncIterator[Watched]:
    client = Watched()
    async with running(client, home.bot):
        yield client


async def hears(client: Client, content: str) -> discord.Message:
    message: discord.Message = await client.wait_for(
        "message", check=lambda message: message.content == content, timeout=PATIENCE
    )
    return message


async def test_it_resumes_and_hears_what_it_missed(
    home: Home, sandbox: Sandbox, client: Watched
) -> None:
    session = await sandbox.connected(home.bot)
    resumed = asyncio.create_task(client.wait_for("resumed", timeout=PATIENCE))
    sandbox.faults.drops(home.bot)
    await home.alice.says("missed 1", in_=home.general)
    await home.alice.says("missed 2", in_=home.general)
    await resumed
    assert await sandbox.connected(home.bot) is session
    assert [each.content for each in client.heard] == ["missed 1", "missed 2"]
    assert client.noted == ["ready", "resumed"]


@pytest.mark.parametrize("code", [4000, 4008, 1001])
async def test_it_comes_back_after_a_close_code(
    home: Home, sandbox: Sandbox, client: Watched, code: int
) -> None:
    before = await sandbox.connected(home.bot)
    event = "ready" if code == 1001 else "resumed"
    back = asyncio.create_task(client.wait_for(event, timeout=PATIENCE))
    await sandbox.disconnect(home.bot, code)
    again = await sandbox.connected(home.bot)
    await back
    assert (again is before) == (code != 1001)


async def test_it_reconnects_when_asked_to(home: Home, sandbox: Sandbox, client: Watched) -> None:
    for _ in range(3):
        resumed = asyncio.create_task(client.wait_for("resumed", timeout=PATIENCE))
        await sandbox.faults.reconnects(home.bot)
        await resumed
    assert client.noted == ["ready"] + ["resumed"] * 3


async def test_an_invalid_session_that_is_resumable_is_resumed(
    home: Home, sandbox: Sandbox, client: Watched
) -> None:
    before = await sandbox.connected(home.bot)
    resumed = asyncio.create_task(client.wait_for("resumed", timeout=PATIENCE))
    await sandbox.faults.invalidates(home.bot, resumable=True)
    await resumed
    assert await sandbox.connected(home.bot) is before


async def test_an_invalid_session_is_replaced_and_only_the_last_ids_tell(
    home: Home, sandbox: Sandbox, client: Watched
) -> None:
    ready = asyncio.create_task(client.wait_for("ready", timeout=PATIENCE))
    sandbox.faults.drops(home.bot)
    sandbox.faults.forgets(home.bot)
    unheard = await home.alice.says("nobody hears this", in_=home.general)
    await ready
    channel = client.get_channel(home.general.id)
    assert isinstance(channel, discord.TextChannel)
    assert channel.last_message_id == unheard.id
    assert client.heard == []


async def test_a_session_that_is_invalid_for_good_is_replaced(
    home: Home, sandbox: Sandbox, client: Watched
) -> None:
    before = await sandbox.connected(home.bot)
    ready = asyncio.create_task(client.wait_for("ready", timeout=PATIENCE))
    await sandbox.faults.invalidates(home.bot)
    await ready
    assert sandbox.connections != [before]


async def test_a_resume_that_is_refused_becomes_an_identify(
    home: Home, sandbox: Sandbox, client: Watched
) -> None:
    before = await sandbox.connected(home.bot)
    ready = asyncio.create_task(client.wait_for("ready", timeout=PATIENCE))
    sandbox.faults.refuses_resume(home.bot)
    sandbox.faults.drops(home.bot)
    await ready
    assert await sandbox.connected(home.bot) is not before


async def test_it_finds_out_that_a_connection_is_dead(home: Home, sandbox: Sandbox) -> None:
    home.world.heartbeat_interval = 0.05
    client = Watched(heartbeat_timeout=0.2)
    async with running(client, home.bot):
        sandbox.faults.silences(home.bot)
        await home.alice.says("into the void", in_=home.general)
        await hears(client, "into the void")
    assert client.noted[-1] in ("ready", "resumed")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (4004, discord.ConnectionClosed),
        (4013, discord.ConnectionClosed),
        (4014, discord.PrivilegedIntentsRequired),
    ],
)
async def test_fatal_codes_end_the_client(
    home: Home, sandbox: Sandbox, code: int, error: type[Exception]
) -> None:
    async with Client() as client:
        running_client = asyncio.create_task(client.start(home.bot.token))
        await sandbox.connected(home.bot)
        await client.wait_until_ready()
        await sandbox.disconnect(home.bot, code)
        with pytest.raises(error):
            await running_client


async def test_the_network_is_gone_for_an_hour(
    home: Home, sandbox: Sandbox, http: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discord.shard, "ExponentialBackoff", partial(ExponentialBackoff, 0))
    client = Watched()
    async with running(client, home.bot):
        ready = asyncio.create_task(client.wait_for("ready", timeout=PATIENCE))
        async with sandbox.network.gone():
            assert sandbox.connections == []
            with pytest.raises(aiohttp.ClientConnectorError):
                await http("GET", "/gateway/bot")
            unheard = await home.alice.says("are you there?", in_=home.general)
            await sandbox.network.goes()  # it is gone already
            assert isinstance(home.world.clock, ManualClock)
            home.world.clock.advance(3600)
        assert (await http("GET", "/gateway/bot"))[0] == 200
        await ready
        channel = client.get_channel(home.general.id)
        assert isinstance(channel, discord.TextChannel)
        assert channel.last_message_id == unheard.id
    assert sandbox.network.port == int(sandbox.url.rsplit(":")[-1])
