"""Running the tools of a turn: starts recorded before, results right after."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from os import urandom
from typing import Any

from bot.agent.approvals import approved_arguments, arguments_to_run, refusal
from bot.agent.calls import CallState, call_states
from bot.agent.loop.answering import OFF, failed, gate
from bot.agent.loop.checks import Refusals, refusals_to_start
from bot.agent.loop.closing import UNKNOWN_TEXT
from bot.agent.loop.interrupts import was_cancelled
from bot.agent.loop.live import LiveSession
from bot.agent.loop.steps import goes_on
from bot.agent.parts import Parts
from bot.agent.policy.policy import Rules
from bot.agent.policy.rule import Mode
from bot.agent.tools.outputs import ToolOutput, keep
from bot.agent.tools.progress import Progress
from bot.agent.tools.tool import Tool
from bot.errors import StateError, ToolError, ToolOutcomeUnknownError
from bot.events import (
    RecordedEvent,
    ToolCall,
    ToolProgressEvent,
    ToolResultEvent,
    ToolStartedEvent,
    ToolStatus,
    utc_now,
)
from bot.failpoints import around
from bot.sessions import Session

logger = logging.getLogger(__name__)

AT_WORK_FOR: ContextVar[str | None] = ContextVar("AT_WORK_FOR", default=None)
"""The session for which a tool is at work here: it cannot wait for what that session does next."""

Beat = ToolProgressEvent | None
"""What a tool tells, or nothing: then something was recorded."""


@dataclass(frozen=True, slots=True)
class Work:
    """A call that has been started, with the arguments it runs with.

    Attributes:
        edited: Whether a human changed them.
        grant: The standing yes that lets it run unasked, if it is one.
    """

    turn_id: str
    call: ToolCall
    tool: Tool
    arguments: Mapping[str, Any]
    edited: bool = False
    grant: str = ""


async def run_tools(
    parts: Parts, live: LiveSession, calls: Sequence[CallState], holder: str
) -> AsyncGenerator[Beat, None]:
    """Start these calls and run them side by side; gives a beat whenever something is recorded."""
    works = await _start(parts, live, calls, holder)
    yield None
    async with aclosing(run_works(parts, live, works)) as beats:
        async for beat in beats:
            yield beat


async def run_works(
    parts: Parts, live: LiveSession, works: Sequence[Work]
) -> AsyncGenerator[Beat, None]:
    """Run started calls side by side; gives what they tell, and a beat for results recorded."""
    progress = Progress()
    tasks = {asyncio.create_task(_run(parts, live, work, progress)) for work in works}
    told = asyncio.create_task(progress.told.wait())
    try:
        while tasks:
            first = partial(asyncio.wait, {*tasks, told}, return_when=asyncio.FIRST_COMPLETED)
            done, _ = await live.interrupts.guard(first)
            for event in progress.taken():
                yield event
            if told in done:
                told = asyncio.create_task(progress.told.wait())
            if ended := done & tasks:
                tasks -= ended
                for task in ended:
                    task.result()
                yield None
    finally:
        for task in (*tasks, told):
            task.cancel()
        await asyncio.gather(*tasks, told, return_exceptions=True)


async def _start(
    parts: Parts, live: LiveSession, calls: Sequence[CallState], holder: str
) -> list[Work]:
    """Record the starts, and what keeps a call from starting after all; return the started."""
    await live.interrupts.guard(lambda: parts.arrived(state.call.tool for state in calls))
    refusals = await refusals_to_start(parts, live, calls)
    rules = await parts.policy.refreshed(live.session_id)
    begun: dict[str, Work] = {}

    def decide(session: Session) -> Sequence[RecordedEvent]:
        begun.clear()
        events: list[RecordedEvent] = []
        states = call_states(session.turn(calls[0].turn_id))
        for call_id in (state.call.call_id for state in calls):
            state = states.get(call_id)
            if state is None or not goes_on(session, state.turn_id) or not state.may_start:
                continue
            ready = prepare(parts, session, state, refusals, rules)
            if isinstance(ready, Work):
                begun[call_id] = ready
                ready = ToolStartedEvent(
                    turn_id=state.turn_id, call_id=call_id, holder=holder, grant=ready.grant
                )
            events.append(ready)
        return events

    await live.record(decide)
    return list(begun.values())


def prepare(
    parts: Parts, session: Session, state: CallState, refusals: Refusals, rules: Rules
) -> Work | RecordedEvent:
    """Return the work of a call that may start; else what is recorded instead.

    The gate is asked again: a call that became gated gets its request now.
    """
    call, turn_id = state.call, state.turn_id
    tool = parts.tools.get(call.tool)
    if tool is None:
        return failed(turn_id, call, f"There is no tool {call.tool!r} now; nothing was done.")
    try:
        arguments = tool.parameters.effective(call.arguments)
        if state.decision is not None:
            approved = approved_arguments(state, now=utc_now())
            if approved is None:
                return refusal(state, state.decision)
            arguments = tool.parameters.effective(approved)
            if arguments != approved:
                return failed(turn_id, call, "The tool has changed since this was approved.")
        if call.call_id in refusals:
            return failed(turn_id, call, refusals[call.call_id])
        if state.decision is None:
            return gate(parts, session, turn_id, call, tool, rules) or _unasked(
                session, Work(turn_id, call, tool, arguments), rules
            )
        if rules.mode(tool, arguments, session) is Mode.NEVER:
            return failed(turn_id, call, OFF)
    except ToolError as exc:
        return failed(turn_id, call, str(exc))
    return Work(turn_id, call, tool, arguments, edited=state.decision.arguments is not None)


def _unasked(session: Session, work: Work, rules: Rules) -> Work:
    """Return the work of a call that nobody decided, with the standing yes to it if it has one."""
    grant = rules.grant(work.tool, work.arguments, session)
    return replace(work, grant=grant.grant_id) if grant else work


def again(parts: Parts, calls: Sequence[CallState]) -> list[Work]:
    """Return the work of started calls that may simply run again: their tools say so."""
    works = []
    for state in calls:
        tool = parts.tools.get(state.call.tool)
        if state.started is not None and tool is not None and tool.idempotent:
            arguments = tool.parameters.effective(arguments_to_run(state, now=state.started.at))
            edited = state.decision is not None and state.decision.arguments is not None
            works.append(Work(state.turn_id, state.call, tool, arguments, edited=edited))
    return works


async def _run(parts: Parts, live: LiveSession, work: Work, progress: Progress) -> None:
    AT_WORK_FOR.set(live.session_id)
    result = await _result(parts, live.session, work, progress)

    def decide(session: Session) -> Sequence[RecordedEvent]:
        state = call_states(session.turn(work.turn_id)).get(work.call.call_id)
        return [result] if state is not None and state.result is None else []

    if not await live.record(decide):
        logger.warning("a late result of %s was dropped", work.tool.name)


async def _result(
    parts: Parts, session: Session, work: Work, progress: Progress
) -> ToolResultEvent:
    """Run a call; its files are stored before anybody reads of them in the log."""
    status, output = await _outcome(parts, session, work, progress)
    text, attachments = await keep(output, parts.manager)
    if work.edited:
        ran = json.dumps(work.arguments, ensure_ascii=False)
        text = f"[A human changed the arguments: it ran with {ran}]\n{text}"
    return ToolResultEvent(
        turn_id=work.turn_id,
        call_id=work.call.call_id,
        status=status,
        output=text,
        attachments=attachments,
        receipt=output.receipt,
    )


async def _outcome(
    parts: Parts, session: Session, work: Work, progress: Progress
) -> tuple[ToolStatus, ToolOutput]:
    tell = partial(progress.tell, work.turn_id, work.call.call_id, work.tool.name)
    context = parts.context(session, work.turn_id, work.call.call_id, tell)
    limit = asyncio.timeout(work.tool.timeout)
    try:
        async with limit:
            with around("tool"):
                output = await work.tool.invoke(work.arguments, context)
        if work.tool.parameters.context_names:
            session.mend_state()
    except ToolOutcomeUnknownError as exc:
        return ToolStatus.UNKNOWN, ToolOutput(f"{exc} {UNKNOWN_TEXT}")
    except (ToolError, StateError) as exc:
        return ToolStatus.ERROR, ToolOutput(str(exc))
    except TimeoutError as exc:
        if limit.expired():
            text = f"It took longer than {work.tool.timeout:g} s. {UNKNOWN_TEXT}"
            return ToolStatus.UNKNOWN, ToolOutput(text)
        return ToolStatus.ERROR, ToolOutput(_told(work, exc))
    except BaseException as exc:
        if was_cancelled(exc):
            raise
        return ToolStatus.ERROR, ToolOutput(_told(work, exc))
    return ToolStatus.OK, output


def _told(work: Work, exc: BaseException) -> str:
    """Return what the model is told of an error that was not meant for it; the log has the rest."""
    reference = urandom(4).hex()
    logger.warning("tool %s failed [%s]", work.tool.name, reference, exc_info=exc)
    return f"The tool failed ({type(exc).__name__}, reference {reference})."
