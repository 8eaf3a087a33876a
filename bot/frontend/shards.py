"""Which part of Discord is this process's, and taking turns at the gateway with the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from bot.frontend.tasks import Tasks

IDENTIFY_SECONDS = 5.5
"""How long after one shard the next one of its bucket identifies.

Five seconds after is allowed (reference, "Max Concurrency"); the first one is still on its way.
"""

Alone = Callable[[str], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class Shards:
    """The shards of a process: which of how many.

    Attributes:
        count: How many there are in all; 0: as many as Discord recommends, and all are ours.
        ids: Which are ours; empty: all.
    """

    count: int = 0
    ids: frozenset[int] = frozenset()

    @property
    def all(self) -> bool:
        """Whether other processes have none."""
        return not self.ids or len(self.ids) == self.count

    def has(self, server_id: int | None) -> bool:
        """Return whether a server, or without one what is said in DMs, is on a shard of ours."""
        if self.all:
            return True
        return (0 if server_id is None else (server_id >> 22) % self.count) in self.ids


ALL = Shards()


class Turnstile:
    """Lets one shard of a bucket identify at a time, whichever process it belongs to.

    Args:
        alone: Makes the block that one of all processes is in.
        tasks: What keeps a bucket closed for a while afterwards.
    """

    def __init__(self, alone: Alone, tasks: Tasks, *, pause: float = IDENTIFY_SECONDS) -> None:
        self._alone = alone
        self._tasks = tasks
        self._pause = pause

    async def enter(self, bucket: str) -> None:
        """Return when it is this process's turn to let one shard of a bucket identify."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tasks.start(self._close_behind(bucket, turn), name=f"the turn of {bucket}")
        await turn

    async def _close_behind(self, bucket: str, turn: asyncio.Future[None]) -> None:
        try:
            async with self._alone(bucket):
                if not turn.done():  # or whoever waited has given up
                    turn.set_result(None)
                    await asyncio.sleep(self._pause)
        except Exception as exc:
            if turn.done():
                raise
            turn.set_exception(exc)
        finally:
            turn.cancel()
