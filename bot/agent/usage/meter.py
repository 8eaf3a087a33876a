"""Who may call the model, and what its calls used: asked before each call, told after it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from bot.agent.model.service import Model, ModelAnswer, ModelEvent, ModelRequest, Reported, Retrying
from bot.events import Usage
from bot.sessions.stores.usage import Purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of the model: for whom, where, and what names it.

    Attributes:
        turn_id: The turn; for a summary a name of its own.
        number: Counts the turn's calls, so that one that is told again is known.
        user_id: Who asked, empty where nobody knows.
    """

    session_id: str
    turn_id: str
    number: int
    user_id: str
    model: str
    purpose: Purpose = Purpose.ANSWER


class Meter(Protocol):
    """Knows budgets, and keeps what was used."""

    async def admit(self, session_id: str, user_id: str) -> None:
        """Let a call begin, or not.

        Raises:
            BudgetUsedUpError: if it may not begin; its text is for people.
        """
        ...

    async def note(self, call: Call, usage: Usage) -> None:
        """Keep what a call used; told twice, it counts once."""
        ...


class FreeMeter:
    """Lets every call begin, and keeps nothing."""

    async def admit(self, session_id: str, user_id: str) -> None:
        """Let it begin."""

    async def note(self, call: Call, usage: Usage) -> None:
        """Keep nothing."""


async def metered(
    meter: Meter, model: Model, request: ModelRequest, call: Call
) -> AsyncGenerator[ModelEvent, None]:
    """Give what the model answers, if it may be asked, and keep what that used, however it ends.

    Raises:
        BudgetUsedUpError: if it may not be asked.
        ModelError: what the model raises.
    """
    await meter.admit(call.session_id, call.user_id)
    tally = _Tally()
    try:
        async with aclosing(model.stream(request)) as stream:
            async for item in stream:
                tally.see(item)
                yield item
    finally:
        if tally.usage is not None:
            await meter.note(call, tally.usage)


class _Tally:
    """What a call used: its attempts together, of each what was reported last."""

    def __init__(self) -> None:
        self._before: Usage | None = None
        self._now: Usage | None = None

    @property
    def usage(self) -> Usage | None:
        """What it used; `None` where it did not get as far as to an answer, or a report."""
        if self._before is None or self._now is None:
            return self._now or self._before
        return self._before + self._now

    def see(self, item: ModelEvent) -> None:
        match item:
            case Reported(usage):
                self._now = usage
            case ModelAnswer(usage=usage):
                self._now = usage or self._now or Usage()
            case Retrying():
                self._before, self._now = self.usage, None
            case _:
                pass
