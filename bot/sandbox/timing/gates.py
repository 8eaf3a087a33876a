"""Something that is held up until a test lets it go on."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from bot.sandbox.timing.pulse import PATIENCE, Pulse


class Gate:
    """Shut until it is released; what comes to it waits."""

    def __init__(self) -> None:
        self._pulse = Pulse()
        self._opened = asyncio.Event()
        self._waiting: list[Callable[[], None]] = []
        self.arrivals = 0

    @property
    def is_open(self) -> bool:
        """Whether it was released."""
        return self._opened.is_set()

    def release(self) -> None:
        """Let everything through, from now on as well."""
        self._opened.set()
        waiting, self._waiting = self._waiting, []
        for action in waiting:
            action()

    def reached(self, timeout: float = PATIENCE) -> Coroutine[Any, Any, int]:
        """Return, once something has come to the gate, how much has.

        Raises:
            TimeoutError: Nothing came.
        """
        return self._pulse.until(
            lambda: self.arrivals or None, timeout, lambda: "nothing came to the gate"
        )

    async def passed(self) -> None:
        """Return once it is open."""
        self._arrive()
        await self._opened.wait()

    def when_open(self, action: Callable[[], None]) -> None:
        """Act now if it is open, else when it is released."""
        self._arrive()
        if self.is_open:
            action()
        else:
            self._waiting.append(action)

    def _arrive(self) -> None:
        self.arrivals += 1
        self._pulse.beat()
