"""What servers write to their standard error: read always, so that none waits; logged at DEBUG."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import TextIO

logger = logging.getLogger(__name__)

LONGEST_LINE = 2_000
PAUSE = 0.02
"""Seconds between two reads: who floods it waits, and not everybody else."""
SHORTEST_SECRET = 6
"""Characters below which a value of the file hides too much of a line to be a secret."""


@asynccontextmanager
async def logged_stderr(name: str, secrets: Collection[str]) -> AsyncIterator[TextIO]:
    """Give a file for a server's standard error; what is written there is logged without secrets.

    The writing end is ours no more once the block has begun its first wait: close it when the
    server has it.
    """
    reading, writing = os.pipe()
    lines = _Lines(name, [each for each in secrets if len(each) >= SHORTEST_SECRET])
    with os.fdopen(writing, "w") as errors:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: lines, os.fdopen(reading, "rb"))
        try:
            yield errors
        finally:
            transport.close()


class _Lines(asyncio.Protocol):
    """Makes lines of what comes, and pauses after each read."""

    def __init__(self, name: str, secrets: Collection[str]) -> None:
        self._name = name
        self._secrets = secrets
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)  # noqa: S101 - it is a pipe's
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.pause_reading()
        asyncio.get_running_loop().call_later(PAUSE, self._transport.resume_reading)
        if logger.isEnabledFor(logging.DEBUG):
            *lines, rest = (self._rest + data).split(b"\n")
            self._rest = rest[:LONGEST_LINE]
            for line in lines:
                self._log(line)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._rest:
            self._log(self._rest)

    def _log(self, line: bytes) -> None:
        text = line[:LONGEST_LINE].decode("utf-8", "replace").rstrip()
        for secret in self._secrets:
            text = text.replace(secret, "***")
        logger.debug("server %s: %r", self._name, text)
