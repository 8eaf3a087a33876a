"""The three kinds of run - a message, a decision, a resumption - as streams of events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager

from bot.agent.approvals import Verdict, find_request
from bot.agent.loop.deciding import Decisions
from bot.agent.loop.driving import Driver, Events
from bot.agent.loop.ending import done_event
from bot.agent.loop.live import LiveSession
from bot.agent.loop.new_messages import NewMessages
from bot.agent.loop.sessions import LiveSessions
from bot.agent.loop.working import AT_WORK_FOR
from bot.agent.parts import Parts
from bot.agent.run import Outcome
from bot.errors import AccessDeniedError, DuplicateMessageError
from bot.events import (
    CompactionDoneEvent,
    DoneEvent,
    RecordedEvent,
    RunStatus,
    TurnEndedEvent,
    TurnOutcome,
    UserMessageEvent,
)


class Runner:
    """Runs sessions for an agent."""

    def __init__(self, parts: Parts, *, sessions: LiveSessions, decisions: Decisions) -> None:
        self._parts = parts
        self._sessions = sessions
        self._decisions = decisions
        self._new_messages = NewMessages(parts.manager)
        self._driver = Driver(parts)

    def watch(self, on_outage: Callable[[], None]) -> None:
        """Have a function called when nobody reads here that the log could not be written."""
        self._driver.on_outage = on_outage

    def suspend(self) -> None:
        """From now on a run that is left early leaves its turn open, for the next start."""
        self._driver.suspended = True

    async def end(self) -> None:
        """End what nobody reads, and leave its turns open for the next start."""
        await self._driver.end()

    def forget(self) -> None:
        """Forget who we are and what is open; the session manager has been closed."""
        self._sessions.forget()
        self._driver.forget()

    # -- the three kinds ---------------------------------------------------------------------------

    async def message(
        self,
        outcome: Outcome,
        messages: Sequence[UserMessageEvent],
        session_id: str,
        user_id: str | None,
    ) -> Events:
        """Record the messages of one turn, and answer it unless the session waits."""
        _refuse_own_tools(session_id)
        mine = messages[0].turn_id
        live = await self._sessions.admitted(session_id, user_id)
        session = live.session
        outcome.context = outcome.context or self._parts.context(session, mine)
        session.take_state(outcome.context.session)
        outcome.context.session, outcome.context.user_id = session, user_id
        with self._going_on(live), live.turns.awaited(mine):
            try:
                take = await self._driver.name()
                recorded = await self._record(live, user_id, messages, take=take)
            except asyncio.CancelledError:
                await self._driver.left(live, mine)
                raise
            except DuplicateMessageError:
                yield DoneEvent(session_id=session_id, status=RunStatus.DUPLICATE)
                return
            async with aclosing(self._mine(outcome, live, recorded)) as events:
                async for event in events:
                    yield event
        yield done_event(live.session, mine, mine=True, seen=outcome.seen)

    async def again(
        self, outcome: Outcome, message: UserMessageEvent, session_id: str, user_id: str
    ) -> Events:
        """Record that somebody asks again about a turn of a session, and answer it."""
        live = self._sessions[session_id]
        await live.open()
        async with aclosing(self.message(outcome, [message], session_id, user_id)) as events:
            async for event in events:
                yield event

    async def decision(self, outcome: Outcome, session_id: str, verdict: Verdict) -> Events:
        """Record a decision, and go on with the session."""
        _refuse_own_tools(session_id)
        live = self._sessions[session_id]
        with self._going_on(live):
            try:
                take = await self._driver.name()
                decided = await self._decisions.record(live, verdict, take=take)
                outcome.turn_id = decided.turn_id
                yield decided
                onward = self._onward(outcome, live, decided.seq, recovering=False)
                async with aclosing(onward) as events:
                    async for event in events:
                        yield event
            except (GeneratorExit, asyncio.CancelledError):
                await self._decision_left(live, verdict.approval_id)
                raise
        yield done_event(live.session, outcome.turn_id, mine=False, seen=outcome.seen)

    async def resumption(self, outcome: Outcome, session_id: str) -> Events:
        """Go on with what is open; noted where a run was cut off."""
        _refuse_own_tools(session_id)
        live = self._sessions[session_id]
        session = await live.open()
        told = session.last_seq
        outcome.turn_id = session.open_turns[0].turn_id if session.open_turns else ""
        with self._going_on(live):
            async with aclosing(self._onward(outcome, live, told, recovering=True)) as events:
                async for event in events:
                    yield event
        yield done_event(live.session, outcome.turn_id, mine=False, seen=outcome.seen)

    async def skip(
        self,
        messages: Sequence[UserMessageEvent],
        session_id: str,
        user_id: str | None,
        *,
        text: str,
    ) -> int:
        """Record messages of a turn that has ended; return how many were not known."""
        end = TurnEndedEvent(turn_id=messages[0].turn_id, outcome=TurnOutcome.SKIPPED, text=text)
        live = await self._sessions.admitted(session_id, user_id)
        try:
            recorded = await self._record(live, user_id, messages, end)
        except DuplicateMessageError:
            return 0
        return len(recorded) - 1

    # -- their parts -------------------------------------------------------------------------------

    async def _record(
        self,
        live: LiveSession,
        user_id: str | None,
        messages: Sequence[UserMessageEvent],
        *then: RecordedEvent,
        take: str | None = None,
    ) -> Sequence[RecordedEvent]:
        """Record messages; a session that is deleted or made just then is asked anew for them."""
        while True:
            try:
                return await self._new_messages.record(live, messages, *then, take=take)
            except AccessDeniedError:
                await self._sessions.admitted(live.session_id, user_id)

    @contextmanager
    def _going_on(self, live: LiveSession) -> Iterator[None]:
        """Answer what is open behind the block's turns when it ends, also if its reader leaves.

        What fails, since it cannot be recorded for example, is not tried again at once.
        """
        try:
            yield
        except (GeneratorExit, asyncio.CancelledError):
            self._driver.go_on(live)
            raise
        self._driver.go_on(live)

    async def _mine(
        self, outcome: Outcome, live: LiveSession, recorded: Sequence[RecordedEvent]
    ) -> Events:
        """Give a recorded message's turn, unless the session waits."""
        mine = recorded[0].turn_id
        try:
            for message in recorded:
                yield message
            if live.turns.is_driven_by_caller or not await live.turns.comes(mine):
                return
            told = recorded[-1].seq
            async with aclosing(self._driver.drive(outcome, live, told=told, mine=mine)) as events:
                async for event in events:
                    if event.turn_id == mine or isinstance(event, CompactionDoneEvent):
                        yield event
        except (GeneratorExit, asyncio.CancelledError):
            await self._driver.left(live, mine)
            raise

    async def _onward(
        self, outcome: Outcome, live: LiveSession, told: int, *, recovering: bool
    ) -> Events:
        """Give all turns that nobody else here waits for."""
        outcome.context = self._parts.context(live.session, outcome.turn_id)
        driving = self._driver.drive(outcome, live, told=told, recovering=recovering)
        async with aclosing(driving) as events:
            async for event in events:
                yield event

    async def _decision_left(self, live: LiveSession, approval_id: str) -> None:
        """End the turn of a decision that was recorded, unless somebody goes on with it."""
        state = find_request(live.session.events, approval_id) if live.is_open else None
        if state is not None and state.decision is not None and not live.turns.is_driven:
            await self._driver.left(live, state.turn_id)


def _refuse_own_tools(session_id: str) -> None:
    if session_id == AT_WORK_FOR.get():
        raise RuntimeError("a tool cannot wait for the session that waits for it")
