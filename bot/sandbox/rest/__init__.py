"""The REST interface: the table of its routes, and the one way every request takes.

``_served`` is where every request is logged; ``gate`` is what it has to pass before its handler.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from bot.sandbox.refusals.errors import DiscordError, Refusal
from bot.sandbox.rest import (
    accounts,
    channels,
    commands,
    gate,
    guilds,
    interactions,
    messages,
    scheduled_events,
    threads,
)
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
    *scheduled_events.ROUTES,
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
        response, status = await _response(world, request, handler)
        seconds = time.perf_counter() - started
        limits = {key: value for key, value in response.headers.items() if key in gate.LIMITS}
        world.requests.append(LoggedRequest(request.method, request.path, status, seconds, limits))
        world.pulse.beat()
        return response

    return serve


async def _response(
    world: World, request: web.Request, handler: Handler
) -> tuple[web.Response, int]:
    async def answered() -> web.Response:
        return await _answered(Call(world, request), handler)

    try:
        response = await gate.passed(world, request, lambda: gate.limited(world, request, answered))
    except gate.Cut:
        return web.Response(), gate.CUT  # which nobody reads: the connection is gone
    return response, response.status


async def _answered(call: Call, handler: Handler) -> web.Response:
    try:
        result = await handler(call)
    except DiscordError as refusal:
        return gate.refused(refusal)
    return web.Response(status=204) if result is None else gate.as_json(result)
