"""A little server with a bot in it, served on loopback."""

from collections.abc import AsyncIterator

import aiohttp
import pytest
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot.sandbox import Sandbox, serve
from tests.sandbox.clients import Home, Http, Line, connected, make_home


@pytest.fixture(name="home")
def _home() -> Home:
    return make_home()


@pytest.fixture
async def sandbox(home: Home, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Sandbox]:
    async with serve(home.world) as running:
        monkeypatch.setattr(Route, "BASE", running.api_base)
        monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(running.gateway_url))
        yield running


@pytest.fixture
async def http(home: Home, sandbox: Sandbox) -> AsyncIterator[Http]:
    headers = {"Authorization": f"Bot {home.bot.token}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        yield Http(session, sandbox)


@pytest.fixture
async def line(sandbox: Sandbox) -> AsyncIterator[Line]:
    async with connected(sandbox) as line:
        yield line
