"""The REST interface: the table of its routes, and the one way every request takes.

``_answered`` is where a request is let in, logged and refused; limits on the rate of requests
belong there too.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from bot.sandbox.errors import DiscordError, Refusal
from bot.sandbox.rest import accounts, channels, commands, guilds, interactions, messages, threads
from bot.sandbox.rest.call import Call, Handler, Routes
from bot.sandbox.world import LoggedRequest, World

logger = logging.getLogger(__name__)

API = "/api/v10"
NEED_TOKEN: Routes = [
    *accounts.ROUTES,
    *channels.ROUTES,
    *commands.ROUTES,
    *guilds.ROUTES,
    *messages.ROUTES,
    *threads.ROUTES,
]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def add_routes(app: web.Application, world: World) -> None:
    """Add the whole interface to a server."""
    for method, path, handler in NEED_TOKEN:
        app.router.add_route(method, API + path, _served(world, _with_token(handler)))
    for method, path, handler in interactions.ROUTES:
        app.router.add_route(method, API + path, _served(world, handler))
    for method in METHODS:
        app.router.add_route(method, "/api/{rest:.*}", _served(world, _unknown))


def _with_token(handler: Handler) -> Handler:
    async def checked(call: Call) -> Any:
        _ = call.bot
        return await handler(call)

    return checked


async def _unknown(call: Call) -> Any:
    route = f"{call.request.method} {call.request.path}"
    logger.error("the sandbox has no route %s", route)
    call.world.unknown_routes.append(route)
    raise Refusal.UNKNOWN_ROUTE.error()


def _served(
    world: World, handler: Handler
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def serve(request: web.Request) -> web.StreamResponse:
        started = time.perf_counter()
        response = await _answered(Call(world, request), handler)
        seconds = time.perf_counter() - started
        world.requests.append(LoggedRequest(request.method, request.path, response.status, seconds))
        world.pulse.beat()
        return response

    return serve


async def _answered(call: Call, handler: Handler) -> web.Response:
    try:
        result = await handler(call)
    except DiscordError as refusal:
        return _json(refusal.body(), refusal.status)
    return web.Response(status=204) if result is None else _json(result)


def _json(body: Any, status: int = 200) -> web.Response:
    # Without a charset, as Discord sends it: discord.py compares the whole header.
    return web.Response(
        body=json.dumps(body).encode(), status=status, content_type="application/json"
    )
