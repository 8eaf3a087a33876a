"""The loop: ask the log what comes next, do it, ask again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from bot.agent.approvals import expired
from bot.agent.history.said import brings_images
from bot.agent.loop.answering import ask_model
from bot.agent.loop.closing import end_turn, settle
from bot.agent.loop.failures import Failure, failure_of
from bot.agent.loop.interrupts import Interrupted, Interrupts
from bot.agent.loop.live import LiveSession
from bot.agent.loop.steps import (
    CallModel,
    Done,
    RunTools,
    Settle,
    Stop,
    Wait,
    next_step,
    stop_requested,
)
from bot.agent.loop.working import Work, again, run_tools, run_works
from bot.agent.parts import Parts
from bot.errors import StorageError, TurnFailedError
from bot.events import (
    Event,
    RecordedEvent,
    TurnEndedEvent,
    TurnOutcome,
    TurnResumedEvent,
    utc_now,
)
from bot.sessions import Session

Move = CallModel | RunTools | Settle | Stop
"""A step that is for whoever runs the session to do."""
MAX_ATTEMPTS = 3
"""The attempt at which a turn that was interrupted again and again is given up."""


def stopped(turn_id: str) -> TurnEndedEvent:
    """Return the end of a turn that somebody stopped."""
    return TurnEndedEvent(
        turn_id=turn_id, outcome=TurnOutcome.STOPPED, code="stopped", text="Stopped."
    )


class Loop:
    """Answers the open turns of one session, oldest first.

    With `mine`, up to the end of that turn; without, up to one that has its own waiter here.

    Attributes:
        turn_id: The turn of the last step.
        error: What made the last failed turn fail.
        seen: What was recorded of it here, also what is not in the window any more.

    Each turn goes by the profile that its session has when it begins here.
    """

    def __init__(
        self, parts: Parts, live: LiveSession, *, mine: str | None, holder: str, told: int
    ) -> None:
        self.turn_id = mine or ""
        self.error: Exception | None = None
        self.seen: list[RecordedEvent] = []
        self._heard: list[RecordedEvent] = []
        self._general = parts
        self._parts = parts
        self._live = live
        self._mine = mine
        self._holder = holder
        self._told = told
        self._begun: str | None = None

    async def events(self, *, recovering: bool) -> AsyncGenerator[Event, None]:
        """Do step after step; give every event as it is recorded, and the live ones between.

        Raises:
            StorageError: if the log cannot be read or written; the turn stays open.
        """
        with self._live.heard(self._told) as self._heard:
            async with aclosing(self._steps(recovering=recovering)) as events:
                async for event in events:
                    yield event

    async def _steps(self, *, recovering: bool) -> AsyncGenerator[Event, None]:
        if recovering:
            await self._resume()
        for recorded in self._news():
            yield recorded
        while (step := await self._next()) is not None:
            await self._begin(step.turn_id)
            failure = None
            try:
                async with aclosing(self._take(step)) as events:
                    async for event in events:
                        yield event
            except Interrupted:
                if stop_requested(self._live.session.turn(step.turn_id)) is None:
                    await self._end(stopped(step.turn_id))
            except Exception as exc:  # noqa: BLE001 - the turn fails, and that is told
                failure = await self._fail(exc)
            for recorded in self._news():
                yield recorded
            if failure is not None:
                yield failure.event(step.turn_id)

    async def _begin(self, turn_id: str) -> None:
        """Answer a turn from now on: whoever stops one while its profile is read means this."""
        if turn_id != self.turn_id:
            self._live.interrupts = Interrupts()  # who stopped the last turn meant that one
            self.error = None
        self.turn_id = self._live.answered = turn_id
        if turn_id != self._begun:
            self._parts = await self._general.of(self._live.session_id)
        self._begun = turn_id

    async def _next(self) -> Move | None:
        """Return the next step, if it is for us to do; what waits too long is expired first."""
        while True:
            session = self._live.session
            if self._mine is not None and not session.is_open(self._mine):
                await self._live.lease.give_back()
                return None
            match next_step(session.unfinished()):
                case Done():
                    rest = await self._live.lease.give_back()
                case Wait() as wait:
                    rest = not await self._expire(wait) and await self._live.lease.give_back()
                case step if self._live.lease.is_held:
                    theirs = self._mine is None and self._live.turns.is_awaited(step.turn_id)
                    return None if theirs else step
                case _:  # the lease was given back with the save that began a wait
                    rest = not await self._live.lease.take(self._holder)
            if rest:
                return None

    async def _take(self, step: Move) -> AsyncGenerator[Event, None]:
        match step:
            case CallModel():
                async with aclosing(ask_model(self._parts, self._live, step.turn_id)) as live:
                    async for event in live:
                        yield event
            case RunTools():
                beats = run_tools(self._parts, self._live, step.calls, self._holder)
                async with aclosing(beats) as told:
                    async for beat in told:
                        for event in self._news() if beat is None else (beat,):
                            yield event
            case Stop():
                await self._end(stopped(step.turn_id), by=step.by)
            case unsettled:
                await self._settle(unsettled)

    async def _settle(self, step: Settle) -> None:
        """Close calls that cannot go on; those of idempotent tools are simply run again."""
        begun = [state.call.tool for state in step.calls if state.started is not None]
        await self._live.interrupts.guard(lambda: self._parts.arrived(begun))
        works = again(self._parts, step.calls)
        await self._run_again(works)
        rerun = {work.call.call_id for work in works}

        def decide(session: Session) -> Sequence[RecordedEvent]:
            current = next_step(session.unfinished())
            if not isinstance(current, Settle) or current.turn_id != step.turn_id:
                return ()
            return [settle(s) for s in current.calls if s.call.call_id not in rerun]

        await self._live.record(decide)

    async def _run_again(self, works: Sequence[Work]) -> None:
        async with aclosing(run_works(self._parts, self._live, works)) as beats:
            async for _ in beats:
                pass

    async def _expire(self, wait: Wait) -> bool:
        now = utc_now()

        def decide(session: Session) -> Sequence[RecordedEvent]:
            current = next_step(session.unfinished())
            requests = current.requests if isinstance(current, Wait) else ()
            return [expired(request) for request in requests if request.expires_at <= now]

        overdue = any(request.expires_at <= now for request in wait.requests)
        return overdue and bool(await self._live.record(decide))

    async def _resume(self) -> None:
        """Note that the oldest open turn is continued after an interruption, or give it up."""
        attempts = 0

        def decide(session: Session) -> Sequence[RecordedEvent]:
            nonlocal attempts
            step = next_step(session.unfinished())
            if isinstance(step, Done | Wait | Stop) or self._live.turns.is_awaited(step.turn_id):
                return ()
            self.turn_id = step.turn_id
            before = session.turn(step.turn_id)
            attempts = 1 + sum(isinstance(event, TurnResumedEvent) for event in before)
            return [TurnResumedEvent(turn_id=step.turn_id, attempt=attempts)]

        await self._live.record(decide)
        if attempts >= MAX_ATTEMPTS:
            await self._fail(TurnFailedError("interrupted again and again", code="gave_up"))

    async def _fail(self, error: Exception) -> Failure:
        if isinstance(error, StorageError):
            raise error
        self.error = error
        failure = failure_of(
            error, session_id=self._live.session_id, with_images=self._shows_images()
        )
        await self._end(failure.ended(self.turn_id))
        return failure

    def _shows_images(self) -> bool:
        return self._parts.attachments.sees_images and brings_images(
            self._live.session.turn(self.turn_id)
        )

    async def _end(self, end: TurnEndedEvent, *, by: str = "bot") -> None:
        shown = self._live.shown
        await self._live.record(lambda s: end_turn(s, end, by=by, shown=shown))

    def _news(self) -> Sequence[RecordedEvent]:
        """Return what was recorded since the last call, by whomever."""
        news = tuple(self._heard)
        self._heard.clear()
        self.seen = [each for each in (*self.seen, *news) if each.turn_id == self.turn_id]
        return news
