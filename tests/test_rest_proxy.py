"""The bot behind a REST proxy that several processes share, and that keeps the rate limits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from aiohttp import web

from tests.commands import running, stopped
from tests.setups import PATIENCE, Setup, labels, set_up

OF_THE_HOP = {"host", "content-length", "transfer-encoding", "connection", "content-encoding"}


@dataclass
class Proxy:
    """Passes requests on, one after the other where Discord says so, and tells no limits."""

    target: str
    seen: list[tuple[str, str]] = field(default_factory=list)
    base: str = ""

    async def pass_on(self, request: web.Request) -> web.Response:
        """Ask in place of the bot."""
        self.seen.append((request.method, request.path))
        async with (
            aiohttp.ClientSession(auto_decompress=True) as session,
            session.request(
                request.method,
                self.target + request.path_qs,
                headers=_kept(dict(request.headers)),
                data=await request.read(),
            ) as answer,
        ):
            body = await answer.read()
        headers = _kept(dict(answer.headers))
        told = {name: each for name, each in headers.items() if "ratelimit" not in name.lower()}
        return web.Response(status=answer.status, body=body, headers=told)


def _kept(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in OF_THE_HOP}


@asynccontextmanager
async def proxying(target: str) -> AsyncIterator[Proxy]:
    """Serve a proxy in front of another server while the block lasts."""
    proxy = Proxy(target)
    app = web.Application(client_max_size=2**25)
    app.router.add_route("*", "/{path:.*}", proxy.pass_on)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    proxy.base = f"http://{host}:{port}"
    try:
        yield proxy
    finally:
        await runner.cleanup()


async def test_behind_a_proxy_it_answers_asks_and_acts(tmp_path: Path) -> None:
    tools = tmp_path / "my_tools.py"
    tools.write_text(
        "from bot import tool\n\n\n"
        "@tool(approval=True)\n"
        "def order(item: str) -> str:\n"
        '    "Order something."\n'
        '    return f"ordered: {item}"\n'
    )
    async with set_up() as home, proxying(home.sandbox.url) as proxy:
        home.model.says("Hello Alice.").then(calls=[("order", {"item": "tea"})]).then("Ordered.")
        api = home.settings["DISCORD_API_BASE"].removeprefix(home.sandbox.url)
        settings = {**home.settings, "DISCORD_API_BASE": proxy.base + api, "TOOLS": str(tools)}
        async with running("run", in_=tmp_path, settings=settings) as process:
            await home.sandbox.connected(home.bot, PATIENCE)
            await home.alice.says("hello", in_=home.desk)
            await home.said("Hello Alice.")
            await home.alice.says("order tea", in_=home.desk)
            await _approved(home)
            await home.said("Ordered.")
            assert (await stopped(process)).status == 0
    assert {(each.method, each.path) for each in home.world.requests} == set(proxy.seen)


async def _approved(home: Setup) -> None:
    """Let a moderator approve the call that waits."""
    mod = home.world.person("mod")
    home.desk.guild.join(mod, permissions={"MANAGE_GUILD"})
    cards = await home.desk.until(
        lambda messages: any("Approve" in labels(each) for each in messages), 10.0
    )
    card = next(each for each in reversed(cards) if "Approve" in labels(each))
    await mod.clicks(card, "Approve")
