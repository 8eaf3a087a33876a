"""The SDK, imported in a thread, with `connections`: no other module imports it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any, cast

import openai

from bot.errors import ModelError, ModelRefusedError, ModelUnavailableError
from bot.providers.connections import HTTP, causes, connection_error, open_connections
from bot.providers.errors import proxy_error, service_error
from bot.providers.presets import ProviderType
from bot.providers.retry import retry_after
from bot.providers.settings import ProviderSettings

FAILURES: tuple[type[Exception], ...] = (
    openai.OpenAIError,
    HTTP.HTTPError,
    HTTP.InvalidURL,
    HTTP.StreamError,
)

PART = 256 * 1024
"""Bytes of a request that are sent at once."""
PROXY_REFUSES = 407
"""The status that only a proxy answers with."""
TELLS_WITHIN = 5.0
"""Seconds for what a service tells of its models: an answer may be waiting for it."""


def open_client(settings: ProviderSettings) -> openai.AsyncOpenAI:
    """Make a client; imports what the SDK imports late, and opens no connection.

    Raises:
        ConfigError: the environment tells wrongly how to connect.
    """
    omit = cast("str", openai.Omit())  # another service is not told of an OpenAI organization
    headers = {"OpenAI-Organization": omit, "OpenAI-Project": omit}
    if settings.provider_type is ProviderType.OPENAI:
        headers = {}
    options: dict[str, Any] = {
        "api_key": settings.api_key or "none",
        "timeout": openai.Timeout(settings.idle_timeout, connect=settings.connect_timeout),
        "max_retries": 0,
        "http_client": open_connections(),
        "default_headers": {**headers, **settings.headers},
    }
    if settings.provider_type is ProviderType.AZURE:
        client: openai.AsyncOpenAI = openai.AsyncAzureOpenAI(
            azure_endpoint=settings.base_url,
            azure_deployment=settings.model,
            api_version=settings.api_version,
            **options,
        )
    else:
        client = openai.AsyncOpenAI(base_url=settings.base_url, **options)
    _ = client.chat.completions.with_streaming_response
    return client


@asynccontextmanager
async def response_blocks(
    client: openai.AsyncOpenAI,
    settings: ProviderSettings,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]],
) -> AsyncIterator[AsyncIterator[bytes]]:
    """Send a request and give its response as blocks of bytes.

    The SDK's typed path takes 0.15 ms a message on the event loop, and its encoding of a long
    conversation holds the loop up.
    """
    async with AsyncExitStack() as stack:
        try:
            body = await asyncio.to_thread(encoded, settings, messages, tools)
        except (TypeError, ValueError) as error:  # something in it is not JSON
            raise _unsendable(error) from None
        response: Any = await client.post(
            "/chat/completions",
            cast_to=HTTP.Response,  # as it is
            content=body if len(body) <= PART else InParts(body),
            options={"headers": _described(body)},
            stream=True,
            stream_cls=openai.AsyncStream[Any],
        )
        stack.push_async_callback(response.aclose)
        packed = "Content-Encoding" in response.headers
        blocks: AsyncGenerator[bytes] = response.aiter_bytes() if packed else response.aiter_raw()
        yield await stack.enter_async_context(aclosing(blocks))


class InParts:
    """A long request, in parts between which the event loop goes on; it can be sent again."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Give the parts."""
        for start in range(0, len(self._body), PART):
            yield self._body[start : start + PART]


def _described(body: bytes) -> Mapping[str, str]:
    return {"Content-Type": "application/json", "Content-Length": str(len(body))}


async def read_json(client: openai.AsyncOpenAI, path: str) -> object:
    """Read what a service tells at an address, which may lie outside of its base URL.

    Raises:
        ValueError: if it is no JSON.
    """
    response: Any = await client.get(path, cast_to=HTTP.Response, options={"timeout": TELLS_WITHIN})
    return await asyncio.to_thread(response.json)


def encoded(
    settings: ProviderSettings,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]],
) -> bytes:
    """Return a request's body as JSON, made message by message.

    Made as one it would hold up the event loop also from another thread.

    Raises:
        TypeError: if something is no JSON.
        ValueError: likewise.
    """
    body = {
        "model": settings.model,
        "stream": True,
        "stream_options": {"include_usage": True},
        **settings.extra_body,
        **({"tools": list(tools)} if tools else {}),
        "messages": [],
    }
    told = ",".join([_json(message) for message in messages])
    # Half a surrogate pair, as file names may have, must not end the conversation for good.
    return f"{_json(body)[:-2]}{told}]}}".encode(errors="replace")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def translated(error: Exception, secret: str) -> ModelError:
    """Make our error of one of `FAILURES`."""
    if isinstance(error, openai.APIStatusError):
        headers = error.response.headers
        if error.status_code == PROXY_REFUSES:
            return proxy_error(error.status_code)
        return service_error(
            error.body,
            status=error.status_code,
            retry_after=retry_after(headers),
            may_retry=headers.get("x-should-retry") != "false",
            secret=secret,
        )
    known = connection_error(error)
    if known is not None:
        return known
    if isinstance(error, openai.APIConnectionError):
        return ModelUnavailableError("the service cannot be reached")
    if isinstance(error, openai.OpenAIError | HTTP.InvalidURL):
        return _unsendable(error)
    *_, origin = causes(error)
    return ModelUnavailableError(f"the connection broke ({type(origin).__name__})")


def _unsendable(error: Exception) -> ModelRefusedError:
    return ModelRefusedError(f"the request could not be sent ({type(error).__name__})")
