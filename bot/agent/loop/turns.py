"""Who answers a session's turns now, and who waits for which."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

from bot.agent.loop.changes import Changes
from bot.agent.loop.steps import Done, Wait, next_step
from bot.agent.loop.working_copy import WorkingCopy


class Turns:
    """Lets one task at a time answer a session; a turn comes after the awaited ones before it."""

    def __init__(self, copy: WorkingCopy) -> None:
        self._copy = copy
        self._changes = Changes()
        self._driven = False
        self._driver: asyncio.Task[object] | None = None
        self._awaited: list[str] = []

    @contextlib.contextmanager
    def awaited(self, turn_id: str) -> Iterator[None]:
        """Say that somebody here waits for the answer of this turn."""
        self._awaited.append(turn_id)
        try:
            yield
        finally:
            self._awaited.remove(turn_id)
            self._changes.tell()

    def is_awaited(self, turn_id: str) -> bool:
        """Return whether somebody here waits for the answer of this turn."""
        return turn_id in self._awaited

    @property
    def has_more(self) -> bool:
        """Whether we hold the lease, and a turn is open that nobody here waits for."""
        if self._copy.holder is None or self._driven:
            return False
        step = next_step(self._copy.session.unfinished())
        return not isinstance(step, Done | Wait) and not self.is_awaited(step.turn_id)

    @property
    def is_driven_by_caller(self) -> bool:
        """Whether it is the asking task itself that answers the session now."""
        return self._driver is not None and self._driver is asyncio.current_task()

    @property
    def is_driven(self) -> bool:
        """Whether somebody here answers the session now."""
        return self._driven

    async def comes(self, turn_id: str) -> bool:
        """Wait until it is this turn's moment; return `False` once the session waits for people."""
        session = self._copy.session
        await self._changes.until(lambda: session.waits or self._may_drive(turn_id))
        return not session.waits

    @contextlib.asynccontextmanager
    async def driving(self, turn_id: str | None) -> AsyncIterator[None]:
        """Wait until it is this turn's moment, and be the one who answers.

        A turn comes after those before it that somebody here waits for.
        """
        await self._changes.until(lambda: self._may_drive(turn_id))
        self._driven = True
        self._driver = asyncio.current_task()
        try:
            yield
        finally:
            self._driven = False
            self._driver = None
            self._changes.tell()

    def changed(self) -> None:
        """Let everybody who waits look again: something was recorded."""
        self._changes.tell()

    def _may_drive(self, turn_id: str | None) -> bool:
        if self._driven:
            return False
        turns = [turn.turn_id for turn in self._copy.session.open_turns]
        before = turns[: turns.index(turn_id)] if turn_id in turns else []
        return not any(self.is_awaited(earlier) for earlier in before)
