"""A request for the model's next answer: what it is told, and how large that is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from bot.agent.history.messages import Message, opening, told_turns
from bot.agent.history.tokens import DEFAULT, Report, Scale, measure, size_of
from bot.agent.model.service import ModelRequest
from bot.agent.parts import Parts
from bot.events import RecordedEvent
from bot.sessions import Session

LONG = 500
"""Events from which on a history is built away from the event loop."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and how many tokens it is estimated to have.

    Attributes:
        beside: Tokens of what every request of this agent has: its task and its tools.
        scale: How many bytes of it make a token.
    """

    request: ModelRequest
    tokens: int
    beside: int
    scale: Scale


@dataclass(frozen=True, slots=True)
class _Told:
    messages: list[Message]
    report: Report | None


async def request_for(parts: Parts, session: Session, turn_id: str | None) -> Asked:
    """Return the request for an answer in a turn (`None`: after all turns)."""
    tools = await parts.definitions()
    prompt = parts.system_prompt()
    make = partial(_told, session.events, prompt, parts.model.model, turn_id)
    is_long = len(session.events) > LONG
    told = await asyncio.to_thread(make) if is_long else make()
    messages = await parts.attachments.resolved(told.messages)
    scale = DEFAULT if told.report else await parts.capacity.scale(messages)
    beside = len(json.dumps(tools)) if tools else 0
    tokens, scale = measure(messages, beside=beside, report=told.report, scale=scale)
    return Asked(
        request=ModelRequest(messages=messages, tools=tools, extra=parts.extra),
        tokens=tokens,
        beside=scale.tokens(beside + size_of(prompt)),
        scale=scale,
    )


def _told(
    events: Sequence[RecordedEvent], system_prompt: str, model: str, turn_id: str | None
) -> _Told:
    """Return what the model is told, and what the service said of the beginning of it."""
    messages = opening(events, system_prompt)
    report = None
    for turn in told_turns(events, model=model, turn_id=turn_id):
        if turn.report is not None:
            report = Report(len(messages) + turn.report.messages, turn.report.tokens)
        messages += turn.messages
    return _Told(messages, report)
