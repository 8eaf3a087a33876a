"""All servers: kept connected side by side, and their tools under names of their own."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from bot.agent import ExecutionContext, Tool
from bot.agent.tools.outputs import ToolOutput
from bot.config import McpServer
from bot.errors import ConfigError
from bot.mcp.names import prefixes, tool_name
from bot.mcp.parameters import SchemaParameters
from bot.mcp.patience import Patience
from bot.mcp.server import Server

logger = logging.getLogger(__name__)

MAX_DESCRIPTION = 4_000
"""Characters of a description that the model is told."""
MANY = 128
"""Tools that some model services take at the most."""

Offer = tuple[Server, str, SchemaParameters, Any]
"""A server, the tool's own name, what it takes, and all that the server says of it."""


class Servers:
    """The servers that a file names; a source of tools for the agent.

    Attributes:
        servers: In the order of the file.
    """

    def __init__(self, settings: Sequence[McpServer], patience: Patience | None = None) -> None:
        self.patience = patience or Patience()
        self.servers = [Server(each, self.patience, self._changed) for each in settings]
        self._prefixes = prefixes([each.name for each in settings])
        self._offers: dict[str, Sequence[Offer]] = {}
        self._changes = 0
        self._made: tuple[frozenset[str], int, Mapping[str, Tool]] | None = None

    def tools(self, taken: Collection[str]) -> Mapping[str, Tool]:
        """Return the tools of all servers by name, in the order of their names."""
        key = (frozenset(taken), self._changes)  # a thread may count another one meanwhile
        if self._made is None or self._made[:2] != key:
            self._made = (*key, self._all(key[0]))
        return self._made[2]

    async def arrived(self, name: str) -> None:
        """Return once the servers that may have a tool of this name have told, in bounded time."""
        theirs = (s for s in self.servers if name.startswith(f"{self._prefixes[s.settings.name]}_"))
        await asyncio.gather(*(server.introduced() for server in theirs))

    def tools_of(self, server: Server) -> Mapping[str, Tool]:
        """Return the tools of one server by name, where nothing else is taken."""
        return {each.name: each for each in map(self._tool, self._offers_of(server))}

    def _all(self, taken: frozenset[str]) -> Mapping[str, Tool]:
        found: dict[str, Tool] = {}
        for server in self.servers:
            for offer in self._offers_of(server):
                tool = self._tool(offer, taken)
                if tool.name in taken or found.setdefault(tool.name, tool) is not tool:
                    logger.warning("tool %s exists twice; one is left out", tool.name)
        if len(found) + len(taken) > MANY:
            logger.warning(
                "there are %d tools; many model services take %d", len(found) + len(taken), MANY
            )
        return dict(sorted(found.items()))

    def _offers_of(self, server: Server) -> Sequence[Offer]:
        return self._offers.get(server.settings.name, ())

    def _changed(self, server: Server) -> None:
        """Read what a server offers now; in a thread, since schemas may be long."""
        name = server.settings.name
        offers = []
        for offered in server.offered:
            try:
                parameters = SchemaParameters(offered.input_schema)
            except ValueError as exc:
                logger.warning("server %s: tool %r is left out: %s", name, offered.name, exc)
            else:
                offers.append((server, offered.name, parameters, offered))
        self._offers[name] = offers
        self._changes += 1

    def _tool(self, offer: Offer, taken: Collection[str] = ()) -> Tool:
        server, name, parameters, offered = offer
        settings, hints = server.settings, offered.annotations
        only_reads = settings.trust_read_only and hints is not None and bool(hints.read_only_hint)

        async def call(arguments: dict[str, Any], context: ExecutionContext) -> ToolOutput:
            return await server.call(name, arguments, context)

        return Tool(
            call,
            name=tool_name(settings.name, name, self._prefixes, taken),
            description=(offered.description or "").strip()[:MAX_DESCRIPTION],
            approval=not only_reads,
            timeout=settings.timeout,
            idempotent=only_reads and bool(hints.idempotent_hint),
            accepts=parameters,
        )


@asynccontextmanager
async def open_servers(
    settings: Sequence[McpServer], patience: Patience | None = None
) -> AsyncIterator[Servers]:
    """Keep servers connected while the block lasts; waits a little for them, and no longer.

    Raises:
        ConfigError: if there are servers, but not the SDK.
    """
    servers = Servers(settings, patience)
    if settings:
        await asyncio.to_thread(load)
    for server in servers.servers:
        server.start()
    try:
        await _met(servers)
        yield servers
    finally:
        await asyncio.gather(*(server.end() for server in servers.servers))


async def _met(servers: Servers) -> None:
    """Wait until each server has listed its tools or failed; the late ones are told."""
    meetings = [asyncio.create_task(each.met.wait()) for each in servers.servers]
    if meetings:
        await asyncio.wait(meetings, timeout=servers.patience.start)
    for server, meeting in zip(servers.servers, meetings, strict=True):
        if not meeting.done():
            logger.warning("server %s is not ready yet; its tools come later", server.settings.name)
            meeting.cancel()


def load() -> None:
    """Import the SDK, which takes a second.

    Raises:
        ConfigError: if it is not there.
    """
    if importlib.util.find_spec("mcp") is None:
        raise ConfigError("MCP servers need the mcp SDK: pip install 'parley[mcp]'")
    import jsonschema  # noqa: F401 - used by whoever imports it again
    import mcp.client.streamable_http
    import mcp.client.subscriptions  # noqa: F401
