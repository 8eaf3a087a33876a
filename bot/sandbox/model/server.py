"""The HTTP side: an OpenAI-compatible endpoint on 127.0.0.1.

It promises no more than a client of this bot needs: streamed chat completions and a list of
models. Messages that a real service would refuse it refuses too. It checks no
keys and must not be reachable from elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web

from bot.sandbox.model.contents import problems
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
    """Serve a behaviour on 127.0.0.1 while the block lasts; port 0 takes a free one.

    Replies that are not finished at the end of the block are cut.
    """
    endpoint = _Endpoint(behaviour, name)
    runner = web.AppRunner(endpoint.app(), handler_cancellation=True, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        bound = runner.addresses[0][1]
        yield ModelServer(f"http://127.0.0.1:{bound}/v1")
    finally:
        endpoint.cut()
        await runner.cleanup()


class _Endpoint:
    def __init__(self, behaviour: Behaviour, name: str) -> None:
        self._behaviour = behaviour
        self._name = name
        self._open: list[web.Request] = []

    def app(self) -> web.Application:
        app = web.Application(client_max_size=_MAX_REQUEST)
        # Azure names the deployment in front.
        app.router.add_post("/{prefix:.+}/chat/completions", self._completions)
        app.router.add_get("/v1/models", self._models)
        return app

    def cut(self) -> None:
        for request in self._open:
            _cut(request)

    async def _models(self, _request: web.Request) -> web.StreamResponse:
        created = int(time.time())
        model = {"id": self._name, "object": "model", "created": created, "owned_by": "sandbox"}
        return web.json_response({"object": "list", "data": [model]})

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if wrong := problems(body):
            error = {"message": "; ".join(wrong), "type": "invalid_request_error"}
            return web.json_response({"error": error}, status=400)
        reply = self._behaviour.reply(body, request.headers.copy())
        self._open.append(request)
        try:
            return await _send(request, reply, body)
        finally:
            self._open.remove(request)


async def _send(request: web.Request, reply: Reply, body: Mapping[str, Any]) -> web.StreamResponse:
    headers = {"Content-Type": "application/json", **reply.headers}
    response = web.StreamResponse(status=reply.status, headers=headers)
    try:
        await response.prepare(request)
        async with aclosing(reply.body(body)) as blocks:
            async for block in blocks:
                await response.write(block)
        await response.write_eof()
    except Drop:
        _cut(request)
    except ConnectionResetError:
        pass  # whoever asked has gone
    return response


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
