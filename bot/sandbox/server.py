"""The server on loopback that a bot's client talks to.

It protects against nothing but being driven by other sites in a browser: whoever can connect
to loopback and knows a bot's token is that bot.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Collection, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from bot.sandbox import rest
from bot.sandbox.faults.faults import Faults
from bot.sandbox.gateway.connection import Connection
from bot.sandbox.gateway.protocol import Close
from bot.sandbox.network import HOST, Network
from bot.sandbox.page.breakages import Breakages, Restart
from bot.sandbox.page.server import Page, keep_out_other_sites
from bot.sandbox.resources.sessions import Session
from bot.sandbox.resources.users import Bot
from bot.sandbox.rest import gate
from bot.sandbox.timing.pulse import PATIENCE
from bot.sandbox.world import World

# What people upload is shown by the page, and must never run as one of its own.
HARMLESS = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}
LARGEST_BODY = 64 * 1024 * 1024  # above the limit for uploads, which is refused in its own words


class Sandbox:
    """A running server.

    Attributes:
        url: Its address, without a slash at the end.
        faults: What is to go wrong.
        network: The way here, which can be cut.
    """

    def __init__(
        self, world: World, *, notice: str | None = None, restart: Restart | None = None
    ) -> None:
        self.world = world
        self.url = ""
        self.network: Network
        self.faults: Faults = world.faults
        self.page_token = secrets.token_urlsafe(16)
        self._open: list[Connection] = []
        self._breakages = Breakages(world, restart)
        self._page = Page(world, self.page_token, notice=notice, breakages=self._breakages.by_name)

    @property
    def api_base(self) -> str:
        """The address of the REST interface."""
        return self.url + rest.API

    @property
    def gateway_url(self) -> str:
        """The address of the gateway."""
        return self.world.gateway_url

    @property
    def page_url(self) -> str:
        """The address of the page, with the token that lets it write."""
        return f"{self.url}/?token={self.page_token}"

    @property
    def connections(self) -> list[Session]:
        """The gateway sessions that are connected."""
        return [each for each in self.world.hub.sessions if each.line is not None]

    def connected(
        self, bot: Bot, timeout: float = PATIENCE, *, besides: Collection[Session] = ()
    ) -> Coroutine[Any, Any, Session]:
        """Return the bot's gateway session, one that is not among others, once it is there."""

        def found() -> Session | None:
            own = (each for each in self.connections if each.bot is bot)
            return next((each for each in own if each not in besides), None)

        return self.world.pulse.until(found, timeout, lambda: f"{bot.name} did not connect")

    def disconnected(self, bot: Bot, timeout: float = PATIENCE) -> Coroutine[Any, Any, bool]:
        """Return once the bot has no gateway session any more."""
        return self.world.pulse.until(
            lambda: True if all(each.bot is not bot for each in self.connections) else None,
            timeout,
            lambda: f"{bot.name} is still connected",
        )

    async def disconnect(self, bot: Bot, code: int = Close.UNKNOWN_ERROR) -> None:
        """Hang up on a bot, as Discord does now and then."""
        await self.faults.closes(bot, code)

    async def _gateway(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(max_msg_size=4096, compress=False)
        await socket.prepare(request)
        compressed = request.query.get("compress") == "zlib-stream"
        connection = Connection(self.world, socket, request.transport, compressed=compressed)
        self._open.append(connection)
        try:
            await connection.serve()
        finally:
            self._open.remove(connection)
        return socket

    async def _file(self, request: web.Request) -> web.StreamResponse:
        file = self.world.files.get(int(request.match_info["file"]))
        if file is None:
            raise web.HTTPNotFound
        headers = HARMLESS | {"Content-Type": file.media_type}

        async def read() -> web.Response:
            return web.Response(body=file.data, headers=headers)

        try:
            return await gate.troubled(self.world, request, read)
        except gate.Cut:
            return web.Response()  # which nobody reads

    def application(self) -> web.Application:
        """Return the web application with everything the sandbox serves."""
        app = web.Application(client_max_size=LARGEST_BODY, middlewares=[keep_out_other_sites])
        app.router.add_get("/gateway", self._gateway)
        app.router.add_get("/gateway/", self._gateway)
        app.router.add_get("/attachments/{place}/{file:\\d+}/{name}", self._file)
        rest.add_routes(app, self.world)
        self._page.add_routes(app)
        app.on_shutdown.append(self._hang_up)
        return app

    def cut(self) -> None:
        """Cut every connection to the gateway."""
        for each in list(self._open):
            each.drop()

    async def _hang_up(self, _: web.Application) -> None:
        self.faults.release_all()
        for each in list(self._open):
            await each.close(Close.UNKNOWN_ERROR)
        self._page.close()
        self._breakages.close()


@asynccontextmanager
async def serve(
    world: World, *, port: int = 0, notice: str | None = None, restart: Restart | None = None
) -> AsyncIterator[Sandbox]:
    """Serve a world on loopback while the block lasts.

    Args:
        world: What is served.
        port: Where; 0 takes a free one.
        notice: A sentence in Discord's Markdown that the page shows to every visitor.
        restart: Ends the bot's process and starts another; the page has a button for it.
    """
    sandbox = Sandbox(world, notice=notice, restart=restart)
    async with Network(sandbox.application(), sandbox.cut) as network:
        taken = await network.open(port)
        sandbox.network = network
        sandbox.url = world.cdn = f"http://{HOST}:{taken}"
        world.gateway_url = f"ws://{HOST}:{taken}/gateway"
        yield sandbox
