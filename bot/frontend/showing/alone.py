"""One process at a time shows a session; within it, whoever wants to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from bot.frontend.shards import Alone
from bot.sessions import SQLSessionManager


class _Held:
    """What this process holds of a session, and how many here show it."""

    def __init__(self) -> None:
        self.users = 0
        self.entering = asyncio.Lock()
        self.stack: AsyncExitStack | None = None


class Showing:
    """Keeps other processes from showing what is shown here.

    A preview shows its session for as long as it may write: what is on its way to Discord would
    else arrive after the final text that another process has written.

    Args:
        others: The sessions, if other processes may show them too.
    """

    def __init__(self, others: SQLSessionManager | None = None) -> None:
        self._others = others
        self._held: dict[str, _Held] = {}

    @property
    def is_shared(self) -> bool:
        """Whether other processes may show the same sessions."""
        return self._others is not None

    async def is_here(self, session_id: str) -> bool:
        """Return whether this process runs a session, where others might."""
        return self._others is None or await self._others.is_run_here(session_id)

    async def is_elsewhere(self, session_id: str) -> bool:
        """Return whether another process runs a session, and so shows it."""
        return self._others is not None and await self._others.is_run_elsewhere(session_id)

    @asynccontextmanager
    async def of(self, session_id: str) -> AsyncIterator[None]:
        """Be in the one process that shows a session.

        Raises:
            StorageError: if the others cannot be asked.
        """
        if self._others is None:
            yield
            return
        held = self._held.setdefault(session_id, _Held())
        held.users += 1
        try:
            async with held.entering:
                if held.stack is None:
                    held.stack = await _entered(self._others.database.alone, f"show {session_id}")
            yield
        finally:
            held.users -= 1
            if not held.users:
                del self._held[session_id]
                if held.stack is not None:
                    await held.stack.aclose()


async def _entered(alone: Alone, name: str) -> AsyncExitStack:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(alone(name))
        return stack.pop_all()
