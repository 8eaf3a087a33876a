"""Heeding what other processes record in a session."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from bot.agent.loop.interrupts import finished
from bot.agent.loop.working_copy import WorkingCopy
from bot.errors import AccessDeniedError, StorageError
from bot.sessions import SessionStore

HEED_EVERY = 2.0
"""Seconds after which a run looks for what other processes have recorded, if it heard of none."""


class Heeding:
    """Reads a session again when other processes have recorded something in it."""

    def __init__(self, copy: WorkingCopy) -> None:
        self._copy = copy

    @property
    def _store(self) -> SessionStore | None:
        """Where others may write, if they can."""
        manager = self._copy.manager
        return manager if isinstance(manager, SessionStore) and manager.is_shared else None

    async def look(self) -> None:
        """Look once.

        Raises:
            AccessDeniedError: if the session was deleted.
        """
        if self._store is not None:
            await self._look(self._store)

    async def _look(self, store: SessionStore) -> None:
        copy = self._copy
        while True:
            known = copy.holder, copy.session.version
            standing = await store.standing(copy.session_id)
            async with copy.lock:
                if (copy.holder, copy.session.version) != known:
                    continue  # it was written, or its lease taken, here: what we heard may be late
                if standing is None or standing.holder != copy.holder:
                    copy.holder = None  # it has been taken over
                if standing is None or standing.version != copy.session.version:
                    copy.outdate()
                    await copy.read()
                return

    @contextlib.asynccontextmanager
    async def always(self) -> AsyncIterator[None]:
        """Look again and again while the block lasts."""
        store = self._store
        if store is None:
            yield
            return
        task = asyncio.create_task(self._look_always(store), name="heeding others")
        try:
            yield
        finally:
            task.cancel()
            await finished(asyncio.wait([task]))

    async def _look_always(self, store: SessionStore) -> None:
        with store.hearing(self._copy.session_id) as heard:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(HEED_EVERY):
                        await heard.wait()
                heard.clear()
                # the run meets it itself
                with contextlib.suppress(StorageError, AccessDeniedError):
                    await self._look(store)
