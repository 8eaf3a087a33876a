"""Hearing what other processes say, on a connection to PostgreSQL that does nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable, Iterator
from typing import NoReturn

import psycopg

from bot.storage.connecting import parameters
from bot.storage.patience import PatientAsyncConnection

logger = logging.getLogger(__name__)

CHANNEL = "parley"
AGAIN = 5.0
"""Seconds after which a connection that was lost is made again."""
QUIET = 30.0
"""Seconds without a word after which the server is asked whether it is still there."""


class Ears:
    """Opened when first used. What is said while the connection is lost is not heard."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._wanted: dict[str, set[asyncio.Event]] = {}
        self._task: asyncio.Task[NoReturn] | None = None

    @contextlib.contextmanager
    def hearing(self, name: str) -> Iterator[asyncio.Event]:
        """Set an event when this name is said, or may have been, for as long as the block lasts."""
        event = asyncio.Event()
        self._wanted.setdefault(name, set()).add(event)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._listen_always(), name="hearing others")
        try:
            yield event
        finally:
            self._wanted[name].discard(event)
            if not self._wanted[name]:
                del self._wanted[name]

    async def close(self) -> None:
        """Close the connection."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _listen_always(self) -> NoReturn:
        while True:
            try:
                await self._listen()
            except psycopg.Error as exc:
                logger.debug("other processes are not heard for a while: %s", type(exc).__name__)
            await asyncio.sleep(AGAIN)

    async def _listen(self) -> None:
        connecting = PatientAsyncConnection.connect(**parameters(self._url), autocommit=True)
        async with await connecting as connection:
            await connection.execute(f"LISTEN {CHANNEL}".encode())
            self._tell(list(self._wanted))  # it may have been said before we listened
            while True:
                async for said in connection.notifies(timeout=QUIET):
                    self._tell([said.payload])
                await connection.execute("SELECT 1")

    def _tell(self, names: Iterable[str]) -> None:
        for name in names:
            for event in self._wanted.get(name, ()):
                event.set()
