"""What a request passes on its way in, and its answer on its way out: faults and limits."""

from __future__ import annotations

import json
import math
import re
import socket
import struct
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any

from aiohttp import web

from bot.sandbox.faults.requests import RequestFault
from bot.sandbox.rate_limits.traffic import INVALID, Asked, Scope, TooMany
from bot.sandbox.refusals.errors import DiscordError, Json, Refusal
from bot.sandbox.world import World

SENDS = re.compile(r"POST .*/channels/\{channel\}/messages")
EDITS = re.compile(r"PATCH .*/channels/\{channel\}/messages/\{message\}")
# Not bound to a bot's global limit (reference, "Rate Limits").
FREE = re.compile(r"POST .*/interactions/.*")
RESOURCES = ("channel", "guild", "application", "token")
# discord.py takes a 429 without it for Cloudflare's.
VIA = {"Via": "1.1 google"}
PAGE = "<!DOCTYPE html><title>{reason}</title><h1>{status} {reason}</h1><p>cloudflare"
# The headers that tell how much is left, and how long to wait.
LIMITS = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset-After", "Retry-After"}
CUT = 0  # the status of a request that got no answer
Answered = Callable[[], Awaitable[web.Response]]


class Cut(Exception):
    """The connection was reset in the place of an answer."""


async def passed(world: World, request: web.Request, answered: Answered) -> web.Response:
    """Answer a request to the interface, unless the address is blocked or something goes wrong.

    Raises:
        Cut: The connection was reset.
    """
    if world.traffic.blocked_for:
        return _page(429, "Too Many Requests", world.traffic.blocked_for)
    response = await troubled(world, request, answered)
    _count(world, response)
    return response


async def troubled(world: World, request: web.Request, answered: Answered) -> web.Response:
    """Answer a request, unless something is to go wrong with it.

    Raises:
        Cut: The connection was reset.
    """
    fault = world.faults.taken(request.method, request.path)
    return await (answered() if fault is None else _befallen(fault, request, answered))


async def limited(world: World, request: web.Request, answered: Answered) -> web.Response:
    """Answer a request if the limits let it in, and tell of them in headers."""
    asked = _asked(world, request)
    if (refused := world.traffic.admit(asked)) is not None:
        response = rate_limited(refused)
        if refused.scope is not Scope.GLOBAL:
            response.headers.update(_headers(world, asked))
        return response
    headers = _headers(world, asked)
    response = await answered()
    response.headers.update(headers)
    return response


def _asked(world: World, request: web.Request) -> Asked:
    resource = request.match_info.route.resource
    route = f"{request.method} {resource.canonical if resource else request.path}"
    found = [request.match_info.get(name, "") for name in RESOURCES]
    kinds = {"sends": SENDS, "edits": EDITS}
    limit = next((name for name, kind in kinds.items() if kind.fullmatch(route)), "others")
    if limit in kinds and world.limits.writes is not None:
        route = limit = "writes"
    free = FREE.fullmatch(route) is not None
    owner = request.headers.get("Authorization", "")
    return Asked(owner, route, "/".join(found), None if free else limit)


def _headers(world: World, asked: Asked) -> dict[str, str]:
    """Return the headers of the bucket (reference, "Header Format")."""
    bucket = world.traffic.bucket(asked)
    if bucket is None:
        return {}
    now = world.clock.now()
    left, wait = bucket.left(now), _rounded(bucket.reset_after(now))
    return {
        "X-RateLimit-Limit": str(bucket.rate.count),
        "X-RateLimit-Remaining": str(left),
        "X-RateLimit-Reset": f"{now.timestamp() + wait:.3f}",
        "X-RateLimit-Reset-After": f"{wait:.3f}",
        "X-RateLimit-Bucket": sha256(asked.route.encode()).hexdigest()[:32],
    }


def _rounded(seconds: float) -> float:
    """Return the time to milliseconds, never shorter than it is."""
    return math.ceil(seconds * 1000) / 1000


def rate_limited(refused: TooMany, about: Json | None = None) -> web.Response:
    """Return the 429 with what Discord says in it, and with what else it says of this one."""
    wait = _rounded(refused.retry_after)
    in_all = refused.scope is Scope.GLOBAL
    body = {"message": "You are being rate limited.", "retry_after": wait, "global": in_all}
    response = as_json(body | (about or {}), 429)
    response.headers.update(VIA)
    response.headers["Retry-After"] = str(math.ceil(wait))
    response.headers["X-RateLimit-Scope"] = refused.scope
    if in_all:
        response.headers["X-RateLimit-Global"] = "true"
    return response


def _count(world: World, response: web.Response) -> None:
    shared = response.headers.get("X-RateLimit-Scope") == Scope.SHARED
    if response.status in INVALID and not shared:
        world.traffic.count_invalid()


async def _befallen(fault: RequestFault, request: web.Request, answered: Answered) -> web.Response:
    response = await answered() if fault.after_effect else None
    if fault.held_by is not None:
        await fault.held_by.passed()
    if fault.resets:
        _reset(request)
        raise Cut
    if fault.fails is not None:
        return _failure(fault, fault.fails)
    return response or await answered()


def _failure(fault: RequestFault, fails: int | Refusal) -> web.Response:
    if isinstance(fails, Refusal):
        return _refusal(fault, fails.error())
    reason = web.Response(status=fails).reason
    if fault.html:
        return _page(fails, reason, fault.retry_after)
    if fails == 429:
        return rate_limited(TooMany(fault.scope, fault.retry_after))
    return as_json({"message": f"{fails}: {reason}", "code": 0}, fails)


def _refusal(fault: RequestFault, refusal: DiscordError) -> web.Response:
    if refusal.status != 429:
        return refused(refusal)
    # A limit with a number of its own; a client treats it like any other.
    return rate_limited(TooMany(fault.scope, fault.retry_after), refusal.body())


def _page(status: int, reason: str, retry_after: float) -> web.Response:
    """Return what stands in front of Discord says: a page, and no JSON."""
    text = PAGE.format(status=status, reason=reason)
    headers = {"Retry-After": str(math.ceil(retry_after)), "Server": "cloudflare"}
    return web.Response(text=text, status=status, content_type="text/html", headers=headers)


def _reset(request: web.Request) -> None:
    """Cut the connection so that the other side sees a reset and no orderly end."""
    transport = request.transport
    if transport is not None:
        found = transport.get_extra_info("socket")
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()


def refused(refusal: DiscordError) -> web.Response:
    """Return a refusal in Discord's form."""
    return as_json(refusal.body(), refusal.status)


def as_json(body: Any, status: int = 200) -> web.Response:
    """Return a JSON answer."""
    # Without a charset, as Discord sends it: discord.py compares the whole header.
    return web.Response(
        body=json.dumps(body).encode(), status=status, content_type="application/json"
    )
