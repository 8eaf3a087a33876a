"""What `Agent.run` and its kin return: something to await, or to iterate."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from bot.agent.context import ExecutionContext
from bot.errors import TurnFailedError
from bot.events import ApprovalRequestedEvent, DoneEvent, Event, RecordedEvent, RunStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResult:
    """What came of a run.

    Attributes:
        output: The last answer's text.
        context: Where it was given; `context.session.events` is the conversation.
        status: How the run ended.
        pending: The requests that wait for a human, when it awaits approval.
    """

    output: str
    context: ExecutionContext
    status: RunStatus
    pending: Sequence[ApprovalRequestedEvent] = ()


@dataclass(slots=True)
class Outcome:
    """What a run leaves for whoever awaits it.

    Attributes:
        context: Where it was answered.
        error: What made its last failed turn fail.
        turn_id: The turn that it answered last.
        seen: What it saw recorded of that turn.
    """

    context: ExecutionContext | None = None
    error: Exception | None = None
    turn_id: str = ""
    seen: Sequence[RecordedEvent] = ()


class AgentRun:
    """A run that has not begun: await it for its result, or iterate over its events, once.

    Leaving the iteration early ends the turn as stopped: soon after, or at once under
    `contextlib.aclosing`.

    Attributes:
        begun: Whether it was awaited or iterated over.
    """

    def __init__(self, start: Callable[[Outcome], AsyncGenerator[Event, None]]) -> None:
        self._start = start
        self.begun = False

    def __aiter__(self) -> AsyncGenerator[Event, None]:
        return self._events(Outcome())

    def __await__(self) -> Generator[Any, None, AgentResult]:
        return self._result().__await__()

    def _events(self, outcome: Outcome) -> AsyncGenerator[Event, None]:
        if self.begun:
            raise RuntimeError("a run can be awaited or iterated only once")
        self.begun = True
        return self._start(outcome)

    async def _result(self) -> AgentResult:
        outcome, done = Outcome(), None
        async with aclosing(self._events(outcome)) as events:
            async for event in events:
                if isinstance(event, DoneEvent):
                    done = event
        assert done is not None  # noqa: S101 - it is the last event of every run
        if done.status is RunStatus.FAILED:
            raise outcome.error or TurnFailedError("the turn failed", code="failed")
        assert outcome.context is not None  # noqa: S101 - set before the first event
        return AgentResult(
            output=done.final_text,
            context=outcome.context,
            status=done.status,
            pending=done.pending,
        )
