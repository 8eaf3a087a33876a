"""The HTTP side: an OpenAI-compatible endpoint on 127.0.0.1.

It promises no more than a client of this bot needs: streamed chat completions, a list of models,
and a context window that may not be passed. Messages that a real service would refuse it refuses
too. It checks no keys and must not be reachable from elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from aiohttp import web

from bot.sandbox.model.contents import problems
from bot.sandbox.model.replies import Drop, Reply, tokens_in, too_long

_MAX_REQUEST = 64 * 1024 * 1024


class Behaviour(Protocol):
    """What decides on replies."""

    def reply(self, request: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        """Choose the reply to a request."""
        ...


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A running endpoint; `base_url` ends in `/v1`.

    Attributes:
        refused: The requests that were longer than the model reads.
    """

    base_url: str
    refused: list[Mapping[str, Any]] = field(default_factory=list)


@asynccontextmanager
async def serve_model(
    behaviour: Behaviour,
    *,
    port: int = 0,
    name: str = "scripted",
    window: int = 0,
    tells_window: bool = True,
) -> AsyncIterator[ModelServer]:
    """Serve a behaviour on 127.0.0.1 while the block lasts; port 0 takes a free one.

    Replies that are not finished at the end of the block are cut.

    Args:
        behaviour: What decides on replies.
        port: Where to listen.
        name: The model's.
        window: How many tokens it reads, 0 for any number; the behaviour never sees more.
        tells_window: Whether the list of models says so, as some services' does.
    """
    refused: list[Mapping[str, Any]] = []
    endpoint = _Endpoint(behaviour, name, refused, window=window, tells_window=tells_window)
    runner = web.AppRunner(endpoint.app(), handler_cancellation=True, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        bound = runner.addresses[0][1]
        yield ModelServer(f"http://127.0.0.1:{bound}/v1", refused)
    finally:
        endpoint.cut()
        await runner.cleanup()


class _Endpoint:
    def __init__(
        self,
        behaviour: Behaviour,
        name: str,
        refused: list[Mapping[str, Any]],
        *,
        window: int,
        tells_window: bool,
    ) -> None:
        self._behaviour = behaviour
        self._name = name
        self._window = window
        self._refused = refused
        self._tells_window = tells_window
        self._open: list[web.Request] = []

    def app(self) -> web.Application:
        app = web.Application(client_max_size=_MAX_REQUEST)
        # Azure names the deployment in front.
        app.router.add_post("/{prefix:.+}/chat/completions", self._completions)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/v1/models/{name:.+}", self._model)
        return app

    def cut(self) -> None:
        for request in self._open:
            _cut(request)

    async def _models(self, _request: web.Request) -> web.StreamResponse:
        return web.json_response({"object": "list", "data": [self._described()]})

    async def _model(self, request: web.Request) -> web.StreamResponse:
        if request.match_info["name"] != self._name:
            error = {"message": "there is no such model", "code": "model_not_found"}
            return web.json_response({"error": error}, status=404)
        return web.json_response(self._described())

    def _described(self) -> dict[str, Any]:
        created = int(time.time())
        model = {"id": self._name, "object": "model", "created": created, "owned_by": "sandbox"}
        told = self._window and self._tells_window
        return model | ({"context_length": self._window} if told else {})

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if wrong := problems(body):
            error = {"message": "; ".join(wrong), "type": "invalid_request_error"}
            return web.json_response({"error": error}, status=400)
        reply = self._reply(body, request.headers.copy())
        self._open.append(request)
        try:
            return await _send(request, reply, body)
        finally:
            self._open.remove(request)

    def _reply(self, body: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        if self._window and tokens_in(body) > self._window:
            self._refused.append(body)
            return too_long(body, self._window)
        return self._behaviour.reply(body, headers)


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
