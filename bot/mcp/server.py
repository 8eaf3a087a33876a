"""One server: a task of its own keeps it connected; whoever calls its tools only asks it."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio

from bot.agent import ExecutionContext
from bot.agent.tools.outputs import ToolOutput
from bot.config import HttpServer, McpServer
from bot.errors import ToolError, ToolOutcomeUnknownError
from bot.mcp.connection import Connection, connected
from bot.mcp.patience import Patience
from bot.mcp.results import output

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

logger = logging.getLogger(__name__)

CHANGES_APART = 0.2
"""Seconds between two looks at a list that changes again and again."""


class ServerEndedError(Exception):
    """The server has ended, or closed its output."""

    def __str__(self) -> str:
        return "it has ended"


class Server:
    """A server that is kept connected: started again, later and later, whenever it is lost.

    What keeps it is ended by a cancel scope, never by a cancellation of its task: the SDK ends a
    program, and kills it if need be, where scopes cannot cut it off. A cancellation can.

    Attributes:
        offered: Its tools, as it listed them last; they stay while it is started again.
        problem: What is wrong with it, or nothing.
        met: Set once it has listed its tools, or failed, for the first time.
    """

    def __init__(
        self, settings: McpServer, patience: Patience, changed: Callable[[Server], object]
    ) -> None:
        self.settings = settings
        self.offered: Sequence[Any] = ()
        self.problem = "it does not answer yet"
        self.met = asyncio.Event()
        self._patience = patience
        self._changed = changed
        self._connection: Connection | None = None
        self._is_up = asyncio.Event()
        self._stirred = asyncio.Event()
        self._scope: anyio.CancelScope | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to keep it connected, in a task of its own."""
        self._scope = anyio.CancelScope()
        keeping = self._keep(self._scope)
        self._task = asyncio.create_task(keeping, name=f"mcp server {self.settings.name}")

    async def end(self) -> None:
        """End it, and the task that keeps it connected."""
        if self._scope is None or self._task is None:
            return
        if self._connection is not None:
            self._connection.leave()
            self._scope.deadline = anyio.current_time() + self._patience.end
        else:
            self._scope.cancel()
        await asyncio.wait([self._task])

    async def _keep(self, scope: anyio.CancelScope) -> None:
        with scope:
            await self._keep_connected()

    async def _keep_connected(self) -> None:
        delay = self._patience.first_delay
        loop = asyncio.get_running_loop()
        while True:
            begun = loop.time()
            try:
                await self._stay_connected()
            except Exception as exc:  # noqa: BLE001 - whatever it is, the server is started again
                self._lost(exc, delay)
            else:
                return
            if loop.time() - begun >= self._patience.settled:
                delay = self._patience.first_delay
            await asyncio.sleep(delay)
            delay = min(2 * delay, self._patience.max_delay)

    async def introduced(self) -> None:
        """Wait, within bounds, until it has told its tools for the first time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience.connect):
                await self.met.wait()
        if not self.offered:
            with suppress(ToolError):
                await self._connected()

    async def call(
        self, tool: str, arguments: dict[str, Any], context: ExecutionContext
    ) -> ToolOutput:
        """Call a tool and return what came of it.

        Raises:
            ToolError: if the call failed, or the server does not run.
            ToolOutcomeUnknownError: if the server was lost in the middle of it.
        """
        connection = await self._connected()
        try:
            answer = await self._answer(connection.client, tool, arguments, context)
            return await asyncio.to_thread(output, answer)  # it may be large
        except (ToolOutcomeUnknownError, asyncio.CancelledError):
            self._stirred.set()  # does it still live?
            raise

    async def _answer(
        self, client: Client, tool: str, arguments: dict[str, Any], context: ExecutionContext
    ) -> CallToolResult:
        from anyio import BrokenResourceError, ClosedResourceError
        from mcp.shared.exceptions import MCPError
        from mcp.types import CONNECTION_CLOSED
        from pydantic import ValidationError

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            share = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
            context.progress(f"{message} ({share})" if message else share)

        lost = f"The server {self.settings.name} was lost in the middle of the call."
        try:
            return await client.call_tool(tool, arguments, progress_callback=tell)
        except MCPError as exc:
            self._stirred.set()
            if exc.code == CONNECTION_CLOSED:
                raise ToolOutcomeUnknownError(lost) from exc
            raise ToolError(f"The server refused the call: {exc.message[:1000]}") from exc
        except (BrokenResourceError, ClosedResourceError) as exc:
            raise ToolOutcomeUnknownError(lost) from exc
        except (RuntimeError, ValidationError) as exc:  # what it answers is not what it promises
            logger.info("server %s: tool %s answered amiss", self.settings.name, tool, exc_info=exc)
            raise ToolError("The tool ran, but its answer is not what it should be.") from exc

    async def _connected(self) -> Connection:
        """Return the connection, once there is one that has not ended."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience.back):
                while self._connection is None or self._connection.ended.is_set():
                    self._is_up.clear()
                    await self._is_up.wait()
                return self._connection
        name = self.settings.name
        raise ToolError(f"The server {name} does not run at the moment; nothing was done.")

    async def _stay_connected(self) -> None:
        """Connect, and follow its list of tools until it ends or is left."""
        self._stirred.clear()
        with anyio.fail_after(self._patience.connect) as limit:
            async with connected(self.settings, self._stirred.set) as connection:
                await self._list(connection)
                limit.deadline = math.inf
                await self._use(connection)

    async def _use(self, connection: Connection) -> None:
        self._connection, self.problem = connection, ""
        self._is_up.set()
        self.met.set()
        logger.info("server %s: %d tools", self.settings.name, len(self.offered))
        try:
            await self._follow(connection)
        finally:
            self._connection = None

    async def _follow(self, connection: Connection) -> None:
        """Look at its list whenever it may have changed, and whether it still answers."""
        look = self._patience.look if isinstance(self.settings, HttpServer) else None
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(look):
                    await self._stirred.wait()
            self._stirred.clear()
            if connection.ended.is_set():
                raise ServerEndedError
            async with asyncio.timeout(self._patience.answer):
                await self._list(connection)
            await asyncio.sleep(CHANGES_APART)

    async def _list(self, connection: Connection) -> None:
        offered = await connection.tools()
        if offered != self.offered:
            self.offered = offered
            await asyncio.to_thread(self._changed, self)

    def _lost(self, exc: Exception, delay: float) -> None:
        self.problem = reason(exc)
        logger.warning(
            "server %s: %s; it is started again in %g s", self.settings.name, self.problem, delay
        )
        logger.debug("server %s", self.settings.name, exc_info=exc)
        self.met.set()


def reason(exc: BaseException) -> str:
    """Return what went wrong, in a line; nothing that a server or a file said is in it."""
    while isinstance(exc, BaseExceptionGroup):
        exc = exc.exceptions[0]
    match exc:
        case TimeoutError():
            return "it did not answer in time"
        case FileNotFoundError():
            return f"there is no {exc.filename}"
        case PermissionError():
            return f"{exc.filename} may not be run"
        case ServerEndedError():
            return str(exc)
        case _:
            code = getattr(exc, "code", None)
            return f"{type(exc).__name__}{f' {code}' if isinstance(code, int) else ''}"
