"""Servers on loopback."""

from collections.abc import AsyncIterator

import pytest

from tests.tools.web.server import Server, serving


@pytest.fixture
async def public() -> AsyncIterator[Server]:
    """The server that the tests' DNS calls `page.test`."""
    async with serving() as server:
        yield server


@pytest.fixture
async def private() -> AsyncIterator[Server]:
    """One that must never be asked anything."""
    async with serving() as server:
        server.page("/", "secret", Content_Type="text/plain")
        yield server
        assert server.requests == []
