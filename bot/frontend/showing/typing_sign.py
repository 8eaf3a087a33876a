"""The sign that the bot is working on an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bot.frontend.refusals import DiscordError
from bot.frontend.tasks import Tasks

EVERY = 8.0  # seconds; Discord shows it for ten, or until the next message


class TypingSign:
    """Shows in one place that the bot types, while it is on."""

    def __init__(self, show: Callable[[], Awaitable[None]], tasks: Tasks) -> None:
        self._show = show
        self._tasks = tasks
        self._task: asyncio.Task[None] | None = None

    def on(self) -> None:
        """Show it from now on."""
        if self._task is None or self._task.done():
            self._task = self._tasks.task(self._keep(), name="typing")

    def off(self) -> None:
        """Show it no longer; Discord lets it run out."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _keep(self) -> None:
        while True:
            try:
                await self._show()
            except DiscordError:
                return  # whoever writes the answer tells what is wrong here
            await asyncio.sleep(EVERY)
