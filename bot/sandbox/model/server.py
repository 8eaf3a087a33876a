"""The HTTP side: an OpenAI-compatible endpoint on 127.0.0.1.

It promises no more than a client of this bot needs: streamed chat completions and a list of
models. It checks no keys and must not be reachable from elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web

from bot.sandbox.model.replies import Drop, Reply

_MAX_REQUEST = 64 * 1024 * 1024


class Behaviour(Protocol):
    """What decides on replies."""

    def reply(self, request: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        """Choose the reply to a request."""
        ...


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A running endpoint; `base_url` ends in `/v1`."""

    base_url: str


@asynccontextmanager
async def serve_model(
    behaviour: Behaviour, *, port: int = 0, name: str = "scripted"
) -> AsyncIterator[ModelServer]:
    """Serve a behaviour on 127.0.0.1 while the block lasts; port 0 takes a free one."""
    app = web.Application(client_max_size=_MAX_REQUEST)
    # Azure names the deployment in front.
    app.router.add_post("/{prefix:.+}/chat/completions", _completions(behaviour))
    app.router.add_get("/v1/models", _models(name))
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        bound = runner.addresses[0][1]
        yield ModelServer(f"http://127.0.0.1:{bound}/v1")
    finally:
        await runner.cleanup()


def _models(name: str) -> Any:
    async def models(_request: web.Request) -> web.StreamResponse:
        model = {"id": name, "object": "model", "created": int(time.time()), "owned_by": "sandbox"}
        return web.json_response({"object": "list", "data": [model]})

    return models


def _completions(behaviour: Behaviour) -> Any:
    async def completions(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        return await _send(request, behaviour.reply(body, request.headers.copy()), body)

    return completions


async def _send(request: web.Request, reply: Reply, body: Mapping[str, Any]) -> web.StreamResponse:
    headers = {"Content-Type": "application/json", **reply.headers}
    response = web.StreamResponse(status=reply.status, headers=headers)
    await response.prepare(request)
    try:
        async with aclosing(reply.body(body)) as blocks:
            async for block in blocks:
                await response.write(block)
    except Drop:
        if request.transport is not None:
            request.transport.abort()
        return response
    await response.write_eof()
    return response
