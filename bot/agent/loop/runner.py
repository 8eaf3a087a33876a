"""The three kinds of run - a message, a decision, a resumption - as streams of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

from bot.agent.again import check_latest
from bot.agent.approvals import Actor, MayDecide, Verdict, decide, decided_error, find_request
from bot.agent.calls import CallState
from bot.agent.loop.closing import end_turn
from bot.agent.loop.ending import done_event
from bot.agent.loop.failures import failure_of
from bot.agent.loop.live import LiveSession, LiveSessions, MayContinue, OnRecorded
from bot.agent.loop.loop import Loop, stopped
from bot.agent.loop.working import AT_WORK_FOR
from bot.agent.parts import Parts
from bot.agent.policy.policy import Rules
from bot.agent.run import Outcome
from bot.agent.tools.tool import Tool
from bot.errors import (
    AccessDeniedError,
    ApprovalNotFoundError,
    ApprovalRefusedError,
    DuplicateMessageError,
    StorageError,
    ToolError,
)
from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    CompactionDoneEvent,
    Decision,
    DoneEvent,
    Event,
    RecordedEvent,
    RunStatus,
    UserMessageEvent,
    new_id,
    utc_now,
)
from bot.failpoints import around
from bot.sessions import Session, SessionStore

Events = AsyncGenerator[Event, None]


class Runner:
    """Runs sessions for an agent, in this process' name."""

    def __init__(self, parts: Parts, *, may_continue: MayContinue, may_decide: MayDecide) -> None:
        self.sessions = LiveSessions(parts.manager, self._recorded)
        self.suspended = False
        self.on_recorded: OnRecorded = lambda session_id, events: None
        self._parts = parts
        self._may_continue = may_continue
        self._may_decide = may_decide
        self._holder = ""
        self._registering = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    def forget(self) -> None:
        """Forget who we are and what is open; the session manager has been closed."""
        self.sessions = LiveSessions(self._parts.manager, self._recorded)
        self._holder = ""

    def _recorded(self, session_id: str, events: Sequence[RecordedEvent]) -> None:
        self.on_recorded(session_id, events)

    async def holder(self) -> str:
        """Return the name under which we hold leases."""
        async with self._registering:
            self._holder = self._holder or await self._registered()
            return self._holder

    @property
    def _has_leases(self) -> bool:
        return isinstance(self._parts.manager, SessionStore)

    async def _registered(self) -> str:
        manager = self._parts.manager
        return await manager.register() if isinstance(manager, SessionStore) else new_id("holder")

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
        live = await self._opened(session_id, user_id)
        session = live.session
        outcome.context = outcome.context or self._parts.context(session, mine)
        session.take_state(outcome.context.session)
        outcome.context.session, outcome.context.user_id = session, user_id
        with live.awaited(mine):
            try:
                recorded = await self._record_new(live, messages)
            except asyncio.CancelledError:
                await self._left(live, mine)
                raise
            except DuplicateMessageError:
                yield DoneEvent(session_id=session_id, status=RunStatus.DUPLICATE)
                return
            async with aclosing(self._mine(outcome, live, recorded)) as events:
                async for event in events:
                    yield event
        self._go_on(live)
        yield done_event(live.session, mine, mine=True, seen=outcome.seen)

    async def again(
        self, outcome: Outcome, message: UserMessageEvent, session_id: str, user_id: str
    ) -> Events:
        """Record that somebody asks again about a turn of a session, and answer it."""
        live = self.sessions[session_id]
        await live.open()
        async with aclosing(self.message(outcome, [message], session_id, user_id)) as events:
            async for event in events:
                yield event

    async def decision(self, outcome: Outcome, session_id: str, verdict: Verdict) -> Events:
        """Record a decision, and go on with the session."""
        _refuse_own_tools(session_id)
        live = self.sessions[session_id]
        try:
            decided = await self._decide(live, verdict)
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
        live = self.sessions[session_id]
        session = await live.open()
        told = session.last_seq
        outcome.turn_id = session.open_turns[0].turn_id if session.open_turns else ""
        async with aclosing(self._onward(outcome, live, told, recovering=True)) as events:
            async for event in events:
                yield event
        yield done_event(live.session, outcome.turn_id, mine=False, seen=outcome.seen)

    async def note(
        self,
        session_id: str,
        user_id: str | None,
        messages: Sequence[UserMessageEvent],
        end: RecordedEvent,
    ) -> None:
        """Record messages together with the end of their turn.

        Raises:
            DuplicateMessageError: if one of them is known; nothing was recorded.
        """
        live = await self._opened(session_id, user_id)
        await live.record(lambda session: [*self._unless_known(session, messages), end])

    # -- their parts -------------------------------------------------------------------------------

    async def _opened(self, session_id: str, user_id: str | None) -> LiveSession:
        """Return a session that this user may continue, made if there is none."""
        live = self.sessions[session_id]
        await live.admit(user_id, self._may_continue)
        return live

    async def _mine(
        self, outcome: Outcome, live: LiveSession, recorded: Sequence[RecordedEvent]
    ) -> Events:
        """Give a recorded message's turn, unless the session waits."""
        mine = recorded[0].turn_id
        try:
            for message in recorded:
                yield message
            if live.is_driven_by_caller or not await live.turn_comes(mine):
                return
            told = recorded[-1].seq
            async with aclosing(self._drive(outcome, live, mine, told, False)) as events:
                async for event in events:
                    if event.turn_id == mine or isinstance(event, CompactionDoneEvent):
                        yield event
        except (GeneratorExit, asyncio.CancelledError):
            await self._left(live, mine)
            raise

    async def _onward(
        self, outcome: Outcome, live: LiveSession, told: int, *, recovering: bool
    ) -> Events:
        """Give all turns that nobody else here waits for."""
        outcome.context = self._parts.context(live.session, outcome.turn_id)
        async with aclosing(self._drive(outcome, live, None, told, recovering)) as events:
            async for event in events:
                yield event

    async def _drive(
        self, outcome: Outcome, live: LiveSession, mine: str | None, told: int, recovering: bool
    ) -> Events:
        """Answer open turns, unless another process does.

        A turn that was cut off is noted as continued; where there are no leases to tell, a
        resumption (`recovering`) says so.
        """
        if live.is_driven_by_caller:
            return  # it reads a run of this session, and goes on with that one
        holder = await self.holder()
        await self._parts.definitions()
        async with live.driving(mine):
            lease = await live.take_lease(holder)
            if lease is None:
                return
            recovering = lease.interrupted or (recovering and not self._has_leases)
            loop = Loop(self._parts, live, mine=mine, holder=holder, told=told)
            try:
                async with aclosing(loop.events(recovering=recovering)) as events:
                    async for event in events:
                        yield event
            except (GeneratorExit, asyncio.CancelledError):
                await self._left(live, mine or loop.turn_id or outcome.turn_id)
                raise
            outcome.turn_id = loop.turn_id or outcome.turn_id
            outcome.error, outcome.seen = loop.error, loop.seen

    async def _left(self, live: LiveSession, turn_id: str) -> None:
        """End the turn of a run that was left early, unless the process is ending."""
        if turn_id and not self.suspended:
            shown = live.shown
            await live.record(lambda s: end_turn(s, stopped(turn_id), by="the reader", shown=shown))

    async def _decision_left(self, live: LiveSession, approval_id: str) -> None:
        """End the turn of a decision that was recorded, unless somebody goes on with it."""
        state = find_request(live.session.events, approval_id) if live.is_open else None
        if state is not None and state.decision is not None and not live.is_driven:
            await self._left(live, state.turn_id)

    def _go_on(self, live: LiveSession) -> None:
        """Answer what other processes left to us while we held the lease; nobody reads it here."""
        if live.has_more and not self.suspended:
            task = asyncio.create_task(self._answer_rest(live), name=f"rest of {live.session_id}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer_rest(self, live: LiveSession) -> None:
        rest = self._drive(Outcome(), live, None, live.session.last_seq, False)
        async with aclosing(told_failures(Outcome(), live.session_id, rest)) as events:
            async for _ in events:
                pass

    async def end(self) -> None:
        """End what nobody reads, and leave its turns open for the next start."""
        suspended, self.suspended = self.suspended, True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.suspended = suspended

    async def _record_new(
        self, live: LiveSession, messages: Sequence[UserMessageEvent]
    ) -> Sequence[RecordedEvent]:
        """Record those of the messages that are not known.

        Raises:
            DuplicateMessageError: if all of them are.
        """
        while True:
            try:
                return await live.record(partial(self._unless_known, messages=messages))
            except DuplicateMessageError as exc:
                known = exc.source_id
                messages = [message for message in messages if message.source_id != known]
                if not messages:
                    raise

    def _unless_known(
        self, session: Session, messages: Sequence[UserMessageEvent]
    ) -> Sequence[UserMessageEvent]:
        """Return the messages; a manager that has no index of them is helped out.

        Raises:
            DuplicateMessageError: if one of them is known.
            NotLatestError: if one asks again about a turn that is not the latest.
        """
        for message in messages:
            if message.about:
                check_latest(session, message.about)
        if not isinstance(self._parts.manager, SessionStore):
            known = {e.source_id for e in session.events if isinstance(e, UserMessageEvent)}
            for message in messages:
                if message.source_id is not None and message.source_id in known:
                    raise DuplicateMessageError(message.source_id)
        return messages

    async def _decide(self, live: LiveSession, verdict: Verdict) -> RecordedEvent:
        await self._parts.definitions()
        rules = await self._parts.policy.refreshed(live.session_id)

        refuses = partial(self.refusal, rules)

        def record(session: Session) -> Sequence[ApprovalDecidedEvent]:
            state = find_request(session.events, verdict.approval_id)
            now = utc_now()
            checked = verdict
            if verdict.arguments is not None and state is not None:
                checked = replace(verdict, arguments=self._edited(state, verdict.arguments))
            decided = decide(state, checked, now=now, refuses=refuses)
            if decided.decision is Decision.APPROVED and state is not None:
                self._still_there(state)
            return [decided]

        try:
            await live.open()
            with around("decision"):
                [decided] = await live.record(record)
        except (ApprovalNotFoundError, AccessDeniedError):
            await self._look_further(live.session_id, verdict.approval_id)
            raise ApprovalNotFoundError(verdict.approval_id) from None
        if isinstance(decided, ApprovalDecidedEvent) and decided.decision is not verdict.decision:
            raise decided_error(decided)
        return decided

    def refusal(
        self, rules: Rules, request: ApprovalRequestedEvent, actor: Actor
    ) -> ApprovalRefusedError | None:
        """Return why somebody may not decide a request; nothing if they may."""
        tool = self._parts.tools.get(request.tool)
        return rules.refusal(tool, request, actor, otherwise=self._may_decide(request, actor))

    def _edited(self, state: CallState, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._still_there(state).parameters.effective(arguments)

    def _still_there(self, state: CallState) -> Tool:
        """Return the tool of a call; a yes to one that is away would be lost, so it waits."""
        tool = self._parts.tools.get(state.call.tool)
        if tool is None:
            raise ToolError(f"There is no tool {state.call.tool!r} now. The request still waits.")
        return tool

    async def _look_further(self, session_id: str, approval_id: str) -> None:
        """Raise who decided a request that lies before the window."""
        manager = self._parts.manager
        if isinstance(manager, SessionStore):
            found = await manager.find_approval(approval_id)
            if found is not None and found.session_id == session_id and found.decision:
                raise decided_error(found.decision)


def _refuse_own_tools(session_id: str) -> None:
    if session_id == AT_WORK_FOR.get():
        raise RuntimeError("a tool cannot wait for the session that waits for it")


async def told_failures(outcome: Outcome, session_id: str, events: Events) -> Events:
    """Give a run's events; a storage that fails is told like any failure."""
    try:
        async with aclosing(events):
            async for event in events:
                yield event
    except StorageError as exc:
        outcome.error = exc
        yield failure_of(exc, session_id=session_id).event("")
        yield DoneEvent(session_id=session_id, status=RunStatus.FAILED)
