"""One call of the model, and what is recorded of its answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from bot.agent.arguments import arguments_hash
from bot.agent.calls import call_states
from bot.agent.loop.checks import Refusals, refusals_to_ask
from bot.agent.loop.closing import Shown, answers, settle
from bot.agent.loop.compacting import fitting_request, shorter_request
from bot.agent.loop.live import LiveSession
from bot.agent.loop.steps import goes_on
from bot.agent.model.service import (
    ModelAnswer,
    ModelRequest,
    ReasoningDelta,
    Reported,
    Retrying,
    TextDelta,
)
from bot.agent.parts import Parts, asker
from bot.agent.policy.policy import Rules
from bot.agent.policy.rule import Mode
from bot.agent.tools.tool import Tool
from bot.agent.usage.meter import Call, metered
from bot.errors import ContextTooLongError, ModelUnavailableError, ToolError, TurnFailedError
from bot.events import (
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    Event,
    RateLimitEvent,
    ReasoningChunkEvent,
    RecordedEvent,
    TextChunkEvent,
    ToolCall,
    ToolResultEvent,
    ToolStatus,
    new_id,
    utc_now,
)
from bot.failpoints import around
from bot.sessions import Session

REASONING_KEPT = 2_000
"""Characters of a model's reasoning that the log keeps of each answer."""
MAX_FAILURES = 3
"""How often the very same call may fail in one turn."""


OFF = "This tool is switched off here. Say so; only people who manage the server can enable it."


async def ask_model(parts: Parts, live: LiveSession, turn_id: str) -> AsyncGenerator[Event, None]:
    """Ask the model, give its answer as it comes, and record it.

    Raises:
        ModelError: if the service fails; what was shown of the answer stays in `live.shown`.
        TurnFailedError: if the answer is empty, or this would be one step too many.
    """
    number = answers(live.session.turn(turn_id))
    if number >= parts.max_steps:
        raise TurnFailedError("too many steps", code="too_many_steps")
    live.shown = Shown(turn_id, number)
    answer = None
    with around("model"):
        async with aclosing(_stream(parts, live, turn_id)) as stream:
            async for item in stream:
                if isinstance(item, ModelAnswer):
                    answer = item
                else:
                    yield item
    if answer is None:
        raise ModelUnavailableError("the service's answer has no end")
    await _record_answer(parts, live, turn_id, answer)


async def _stream(
    parts: Parts, live: LiveSession, turn_id: str
) -> AsyncGenerator[Event | ModelAnswer, None]:
    """Ask; where the service says that it is too long, compact and ask once more."""
    assert live.shown is not None  # noqa: S101 - set by `ask_model`
    asked = await fitting_request(parts, live, turn_id)
    try:
        async with aclosing(_slotted(parts, live, asked.request, turn_id)) as items:
            async for item in items:
                yield item
        return
    except ContextTooLongError:
        if len(live.shown.text):
            raise
        shorter = await shorter_request(parts, live, turn_id, asked)
        if shorter is None:
            raise
    async with aclosing(_slotted(parts, live, shorter.request, turn_id)) as items:
        async for item in items:
            yield item


async def _slotted(
    parts: Parts, live: LiveSession, request: ModelRequest, turn_id: str
) -> AsyncGenerator[Event | ModelAnswer, None]:
    if parts.slots.locked():
        yield RateLimitEvent(turn_id=turn_id, retry_after=0.0)
    await live.interrupts.guard(parts.slots.acquire)
    try:
        async with aclosing(_pieces(parts, live, request, turn_id)) as pieces:
            async for piece in pieces:
                yield piece
    finally:
        parts.slots.release()


async def _pieces(
    parts: Parts, live: LiveSession, request: ModelRequest, turn_id: str
) -> AsyncGenerator[Event | ModelAnswer, None]:
    assert live.shown is not None  # noqa: S101 - set by `ask_model`
    shown = live.shown.text
    call = Call(
        session_id=live.session_id,
        turn_id=turn_id,
        number=live.shown.call,
        user_id=asker(live.session, turn_id),
        model=parts.model.model,
    )
    async with aclosing(metered(parts.meter, parts.model, request, call)) as stream:
        while True:
            try:
                item = await live.interrupts.guard(stream.__anext__)
            except StopAsyncIteration:
                return
            match item:
                case TextDelta(text):
                    shown.add(text)
                    yield TextChunkEvent(turn_id=turn_id, chunk=text)
                case ReasoningDelta(text):
                    yield ReasoningChunkEvent(turn_id=turn_id, chunk=text)
                case Retrying(delay):
                    yield RateLimitEvent(turn_id=turn_id, retry_after=delay)
                case Reported():
                    pass
                case answer:
                    yield answer


async def _record_answer(
    parts: Parts, live: LiveSession, turn_id: str, answer: ModelAnswer
) -> None:
    text = answer.text if answer.text.strip() else ""
    if not text and not answer.tool_calls:
        raise TurnFailedError("the model's answer is empty", code="empty_answer")
    rules = await parts.policy.refreshed(live.session_id) if answer.tool_calls else Rules()
    refusals = await refusals_to_ask(parts, live, turn_id, answer.tool_calls, rules)
    message = AssistantMessageEvent(
        turn_id=turn_id,
        text=text,
        tool_calls=answer.tool_calls,
        usage=answer.usage,
        model=parts.model.model,
        finish_reason=answer.finish_reason,
        reasoning=answer.reasoning[:REASONING_KEPT],
        extra=answer.extra,
    )

    def decide(session: Session) -> Sequence[RecordedEvent]:
        if not goes_on(session, turn_id):
            return ()
        told = (tell(parts, session, turn_id, call, refusals, rules) for call in answer.tool_calls)
        return [message, *(event for event in told if event is not None)]

    await live.record(decide)


def tell(
    parts: Parts,
    session: Session,
    turn_id: str,
    call: ToolCall,
    refusals: Refusals,
    rules: Rules,
) -> ApprovalRequestedEvent | ToolResultEvent | None:
    """Return what is recorded together with a call: a request, a refusal; nothing if it is free."""
    tool = parts.tools.get(call.tool)
    if tool is None:
        names = ", ".join(parts.tools) or "none"
        return failed(turn_id, call, f"There is no tool {call.tool!r}. There are: {names}.")
    try:
        arguments = tool.parameters.effective(call.arguments)
    except ToolError as exc:
        return failed(turn_id, call, str(exc))
    earlier = _earlier(session, turn_id, call, arguments_hash(tool.name, arguments))
    if earlier is not None:
        return earlier
    if call.call_id in refusals:
        return failed(turn_id, call, refusals[call.call_id])
    return gate(parts, session, turn_id, call, tool, rules)


def gate(
    parts: Parts, session: Session, turn_id: str, call: ToolCall, tool: Tool, rules: Rules
) -> ApprovalRequestedEvent | ToolResultEvent | None:
    """Return what keeps a valid call, which nobody decided, from running; nothing if it is free."""
    match rules.mode(tool, tool.parameters.effective(call.arguments), session):
        case Mode.NEVER:
            return failed(turn_id, call, OFF)
        case Mode.ASK:
            return request(parts, session, turn_id, call, tool, rules)
        case _:
            return None


def request(
    parts: Parts, session: Session, turn_id: str, call: ToolCall, tool: Tool, rules: Rules
) -> ApprovalRequestedEvent:
    """Return the request for a call whose arguments are valid."""
    arguments = tool.parameters.effective(call.arguments)
    return ApprovalRequestedEvent(
        turn_id=turn_id,
        approval_id=new_id("approval"),
        call_id=call.call_id,
        tool=tool.name,
        arguments=arguments,
        arguments_hash=arguments_hash(tool.name, arguments),
        requested_by=asker(session, turn_id),
        expires_at=utc_now() + (rules.of(tool).expires_in or parts.approval_ttl),
        sentence=tool.says(arguments),
    )


def failed(turn_id: str, call: ToolCall, text: str) -> ToolResultEvent:
    """Return the result of a call that went wrong, as the model is told it."""
    return ToolResultEvent(
        turn_id=turn_id, call_id=call.call_id, status=ToolStatus.ERROR, output=text
    )


def _earlier(session: Session, turn_id: str, call: ToolCall, digest: str) -> ToolResultEvent | None:
    """Return the refusal of a call that was denied, or failed too often, in this turn."""
    states = call_states(session.turn(turn_id)).values()
    for state in states:
        if (
            state.request is not None
            and state.request.arguments_hash == digest
            and state.was_denied
        ):
            return replace(settle(state), call_id=call.call_id)
    failures = [
        (state.call.tool, state.call.arguments)
        for state in states
        if state.result is not None and state.result.status is ToolStatus.ERROR
    ]
    if failures.count((call.tool, call.arguments)) >= MAX_FAILURES:
        return failed(turn_id, call, f"This same call has failed {MAX_FAILURES} times. Stop.")
    return None
