"""A connection to a server, of either kind, that tells when it has ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from bot.config import HttpServer, McpServer, StdioServer
from bot.mcp.stderr import logged_stderr

if TYPE_CHECKING:
    from anyio.abc import TaskStatus
    from mcp import Client
    from mcp.client import Transport

logger = logging.getLogger(__name__)

MAX_PAGES = 100
HTTP_SECONDS = 30.0
QUIET_SECONDS = 300.0
"""How long an address may send nothing while an answer is being waited for."""


@dataclass(frozen=True, slots=True)
class Connection:
    """An open connection.

    Attributes:
        client: Answers any task; entered and left by the one that opened the connection.
        ended: Set once nothing can come from the server any more.
        leave: Ends the block that uses it, wherever that is, and the connection in good order.
    """

    client: Client
    ended: asyncio.Event
    leave: Callable[[], None]

    async def tools(self) -> list[Any]:
        """Return all tools that the server offers."""
        found: list[Any] = []
        cursor = None
        for _ in range(MAX_PAGES):
            page = await self.client.list_tools(cursor=cursor, cache_mode="bypass")
            found += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        return found


@asynccontextmanager
async def connected(server: McpServer, stirred: Callable[[], None]) -> AsyncIterator[Connection]:
    """Be connected while the block lasts; it has to begin and end in the same task.

    Args:
        server: Which one.
        stirred: Called when its list of tools may have changed, and when it has ended.
    """
    from mcp import Client

    ended = asyncio.Event()

    def end() -> None:
        ended.set()
        stirred()

    async def hear(message: object) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            stirred()

    client = Client(_watched(_transport(server), end), message_handler=hear)
    async with client, anyio.create_task_group() as group:
        await group.start(_subscribe, client)  # before anybody looks at what may then change
        yield Connection(client, ended, group.cancel_scope.cancel)
        group.cancel_scope.cancel()


async def _subscribe(client: Client, *, task_status: TaskStatus[None]) -> None:
    """Have changes told, by servers that tell them only to who asks; others tell anyway."""
    from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
    from mcp.shared.exceptions import MCPError

    try:
        async with client.listen(tools_list_changed=True) as changes:
            task_status.started()
            async for _ in changes:
                pass  # `hear` is told as well
    except ListenNotSupportedError:
        task_status.started()
    except (SubscriptionLost, MCPError) as exc:
        logger.debug("changes are not told any more", exc_info=exc)
        with suppress(RuntimeError):  # it has begun
            task_status.started()


def _transport(server: McpServer) -> Any:
    if isinstance(server, HttpServer):
        return _http(server)
    assert isinstance(server, StdioServer)  # noqa: S101 - there are these two
    return _stdio(server)


@asynccontextmanager
async def _stdio(server: StdioServer) -> AsyncIterator[Any]:
    from mcp import StdioServerParameters, stdio_client

    async with logged_stderr(server.name, server.env.values()) as errors:
        parameters = StdioServerParameters(
            command=server.command,
            args=list(server.args),
            env=dict(server.env),
            cwd=server.cwd,
            encoding_error_handler="replace",
        )
        async with stdio_client(parameters, errlog=errors) as streams:
            errors.close()  # the server has its own now: what it leaves is read to the end
            yield streams


@asynccontextmanager
async def _http(server: HttpServer) -> AsyncIterator[Any]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    timeout = httpx2.Timeout(HTTP_SECONDS, read=QUIET_SECONDS)
    async with httpx2.AsyncClient(headers=dict(server.headers), timeout=timeout) as client:
        async with streamable_http_client(server.url, http_client=client) as streams:
            yield streams


@asynccontextmanager
async def _watched(transport: Transport, end: Callable[[], None]) -> AsyncIterator[Any]:
    async with AsyncExitStack() as stack:
        reading, writing = await stack.enter_async_context(transport)
        yield _Watched(reading, end), writing


class _Watched:
    """A stream of messages that tells when it ends."""

    def __init__(self, stream: Any, end: Callable[[], None]) -> None:
        self._stream = stream
        self._end = end

    async def receive(self) -> Any:
        try:
            return await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._end()
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> _Watched:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> _Watched:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
