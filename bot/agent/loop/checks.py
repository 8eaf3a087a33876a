"""Asking a tool, before anybody is asked about a call and before it starts, whether it may be.

A check awaits, and what is recorded is decided without awaiting; so the checks of all calls come
first, and what they said goes into the decision by call. What cannot be checked may not be done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.agent.approvals import arguments_to_run
from bot.agent.calls import CallState
from bot.agent.context import ExecutionContext
from bot.agent.loop.failures import logged
from bot.agent.loop.interrupts import was_cancelled
from bot.agent.loop.live import LiveSession
from bot.agent.parts import Parts
from bot.agent.policy.policy import Rules
from bot.agent.policy.rule import Mode
from bot.agent.tools.tool import Check, Tool
from bot.errors import ToolError
from bot.events import ToolCall, utc_now

Refusals = Mapping[str, str]
"""Why calls may not be made, as the model is told it, by call id."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A check that is to be asked about a call."""

    check: Check
    call: ToolCall
    arguments: Mapping[str, Any]
    timeout: float


async def refusals_to_ask(
    parts: Parts, live: LiveSession, turn_id: str, calls: Sequence[ToolCall], rules: Rules
) -> Refusals:
    """Return which of a model's calls may not even be asked about.

    A call that needs nobody's yes is checked when it starts, which is next.
    """
    asked = [
        _asked(
            parts,
            call,
            call.arguments,
            asks=lambda tool, arguments: rules.mode(tool, arguments, live.session) is Mode.ASK,
        )
        for call in calls
    ]
    return await _refusals(parts, live, turn_id, asked)


async def refusals_to_start(
    parts: Parts, live: LiveSession, calls: Sequence[CallState]
) -> Refusals:
    """Return which calls, free or approved, may not start after all."""
    now = utc_now()
    asked = [_asked(parts, state.call, arguments_to_run(state, now=now)) for state in calls]
    return await _refusals(parts, live, calls[0].turn_id, asked)


def _asked(
    parts: Parts,
    call: ToolCall,
    written: str | Mapping[str, Any],
    *,
    asks: Callable[[Tool, Mapping[str, Any]], bool] = lambda tool, arguments: True,
) -> _Asked | None:
    """Return the check that a call has to pass; what is wrong with it otherwise is told later.

    With `asks`, only that of a call of which it is true.
    """
    tool = parts.tools.get(call.tool)
    if tool is None or tool.check is None:
        return None
    try:
        arguments = tool.parameters.effective(written)
    except ToolError:
        return None
    if not asks(tool, arguments):
        return None
    return _Asked(tool.check, call, arguments, tool.timeout)


async def _refusals(
    parts: Parts, live: LiveSession, turn_id: str, asked: Sequence[_Asked | None]
) -> Refusals:
    checks = [each for each in asked if each is not None]
    contexts = [parts.context(live.session, turn_id, each.call.call_id) for each in checks]

    async def answers() -> list[str | None]:
        pairs = zip(checks, contexts, strict=True)
        return await asyncio.gather(*(_refusal(each, context) for each, context in pairs))

    found = await live.interrupts.guard(answers) if checks else []
    return {
        each.call.call_id: text
        for each, text in zip(checks, found, strict=True)
        if text is not None
    }


async def _refusal(asked: _Asked, context: ExecutionContext) -> str | None:
    limit = asyncio.timeout(asked.timeout)
    try:
        async with limit:
            await asked.check(asked.arguments, context)
    except ToolError as exc:
        return str(exc)
    except BaseException as exc:
        if was_cancelled(exc):
            raise
        if limit.expired():
            return f"Whether this may be done could not be checked within {asked.timeout:g} s."
        reference = logged(f"the check of tool {asked.call.tool}", exc)
        return f"Whether this may be done could not be checked (reference {reference})."
    return None
