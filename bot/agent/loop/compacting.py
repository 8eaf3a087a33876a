"""Compaction at work: the model is asked for a summary, and a boundary is recorded."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from bot.agent.history.compaction import Plan, Room, pieces, plan, request_for_summary, transcript
from bot.agent.history.messages import ToldTurn, told_turns
from bot.agent.history.tokens import cut
from bot.agent.loop.asking import Asked, request_for
from bot.agent.loop.live import LiveSession
from bot.agent.model.capacity import Goal
from bot.agent.model.reasoning import split_reasoning
from bot.agent.model.service import ModelAnswer, ModelRequest, ReasoningDelta, TextDelta
from bot.agent.parts import Parts, asker
from bot.agent.usage.meter import Call, metered
from bot.errors import ContextTooLongError, ModelError
from bot.events import CompactionDoneEvent, RecordedEvent, Usage, UserMessageEvent, new_id
from bot.failpoints import around
from bot.sessions import Session
from bot.sessions.stores.usage import Purpose

logger = logging.getLogger(__name__)

SMALLEST_PIECE = 1_000
"""Bytes: a service that cannot summarise so little is not asked for less."""


LONGEST_ANSWER = 200_000
"""Characters, reasoning too: a model that says more, instead of a summary, has lost itself."""


class EmptySummaryError(ModelError):
    """The model gave no summary."""

    code = "empty_answer"


async def fitting_request(parts: Parts, live: LiveSession, turn_id: str) -> Asked:
    """Return the request for an answer; where it comes close to the window, after a compaction.

    One that fails is logged, and put off; the turn goes on without.
    """
    asked = await request_for(parts, live.session, turn_id)
    is_passed = partial(parts.capacity.is_passed, live.session_id, asked.tokens)
    if not await live.interrupts.guard(is_passed):
        return asked
    window = await parts.capacity.window()
    overflows = parts.capacity.is_known and asked.tokens >= window
    goal = Goal(window, asked.scale, asked.beside, shortens=overflows)
    try:
        await _guarded(parts, live, turn_id, goal)
    except ModelError as exc:
        logger.warning("%s could not be compacted (%s): %s", live.session_id, exc.code, exc)
    asked = await request_for(parts, live.session, turn_id)
    await parts.capacity.put_off(live.session_id, asked.tokens)
    return asked


async def shorter_request(
    parts: Parts, live: LiveSession, turn_id: str, refused: Asked
) -> Asked | None:
    """Return the request after a compaction, since the service refused it as too long.

    Returns `None` where nothing can be left out.

    Raises:
        ModelError: if the model gives no summary.
    """
    window = min(await parts.capacity.window(), refused.tokens)
    goal = Goal(window, refused.scale, refused.beside, shortens=True)
    await _guarded(parts, live, turn_id, goal)
    asked = await request_for(parts, live.session, turn_id)
    return None if asked.request.messages == refused.request.messages else asked


async def compact_by_hand(parts: Parts, live: LiveSession, by: str) -> CompactionDoneEvent | None:
    """Summarise all but the last turns; return what was recorded, if anything was.

    Raises:
        BudgetUsedUpError: if the model may not be called for `by`.
        ModelError: if the model gives no summary.
    """
    asked = await request_for(parts, live.session, None)
    goal = Goal(await parts.capacity.window(), asked.scale, asked.beside)
    return await _compact(parts, live, None, goal, goal.room_by_hand, by)


async def _guarded(
    parts: Parts, live: LiveSession, turn_id: str, goal: Goal
) -> CompactionDoneEvent | None:
    """Compact in a turn, which can be stopped meanwhile."""
    by = asker(live.session, turn_id)
    work = partial(_compact, parts, live, turn_id, goal, goal.room, by)
    return await live.interrupts.guard(work)


async def _compact(
    parts: Parts, live: LiveSession, turn_id: str | None, goal: Goal, room: Room, by: str
) -> CompactionDoneEvent | None:
    async with live.compacting:
        model = parts.model.model
        now = (await live.open()).draft()  # the session itself may go on while a thread reads
        turns = await _told(parts, now.events, turn_id)
        planned = await asyncio.to_thread(plan, now, turns, room)
        if planned is None:
            return None
        planned = await _without_memories(parts, planned, turn_id)
        with around("compact"):
            calls = _calls(live.session_id, model, by)
            summary, usage = await _summarised(parts, planned, goal, calls)
            done = planned.done(summary, usage, model if planned.turns else "")
            recorded = await live.record(partial(_decide, planned, done))
        return done if recorded else None


async def _told(
    parts: Parts, events: Sequence[RecordedEvent], turn_id: str | None
) -> Sequence[ToldTurn]:
    """Return what the model is told, with what its files hold."""
    told = partial(told_turns, events, model=parts.model.model, turn_id=turn_id)
    return [
        replace(turn, messages=await parts.attachments.resolved(turn.messages))
        for turn in await asyncio.to_thread(lambda: list(told()))
    ]


async def _without_memories(parts: Parts, planned: Plan, turn_id: str | None) -> Plan:
    """Return a plan whose summary has nothing of what was recalled: it could not be forgotten.

    Once it is out of the window it is recalled anew where it fits.
    """
    recalls = any(isinstance(e, UserMessageEvent) and e.recalled for e in planned.seen)
    if not recalls:
        return planned
    turns = await _told(parts, [_unrecalled(event) for event in planned.seen], turn_id)
    return replace(planned, turns=turns[: len(planned.turns)])


def _unrecalled(event: RecordedEvent) -> RecordedEvent:
    return replace(event, recalled=()) if isinstance(event, UserMessageEvent) else event


def _decide(planned: Plan, done: CompactionDoneEvent, session: Session) -> Sequence[RecordedEvent]:
    """Record the boundary, unless there is another one since."""
    return [done] if planned.holds(session) else []


def _calls(session_id: str, model: str, by: str) -> Iterator[Call]:
    """Return the calls that a compaction makes, however many those are."""
    name = new_id("compaction")

    def numbered(number: int) -> Call:
        return Call(
            session_id=session_id,
            turn_id=name,
            number=number,
            user_id=by,
            model=model,
            purpose=Purpose.SUMMARY,
        )

    return map(numbered, itertools.count())


async def _summarised(
    parts: Parts, planned: Plan, goal: Goal, calls: Iterator[Call]
) -> tuple[str, Usage | None]:
    """Return the summary and what it cost; pieces that are too long are told in smaller ones."""
    size = goal.piece
    while True:
        try:
            return await _folded(parts, planned, goal, size, calls)
        except ContextTooLongError:
            size //= 2
            if size < SMALLEST_PIECE:
                raise


async def _folded(
    parts: Parts, planned: Plan, goal: Goal, size: int, calls: Iterator[Call]
) -> tuple[str, Usage | None]:
    """Summarise piece after piece, each together with the summary so far."""
    summary, usage = planned.summary, None
    messages = (message for turn in planned.turns for message in turn.messages)
    for piece in pieces(transcript(messages), size):
        task = request_for_summary(summary, piece, words=goal.words)
        answer = await _answer(parts, ModelRequest(messages=task), next(calls))
        said, _ = split_reasoning(answer.text)
        summary = cut(said.strip(), goal.summary)
        if not summary:
            raise EmptySummaryError("the model gave no summary")
        usage = answer.usage if usage is None or answer.usage is None else usage + answer.usage
    return summary, usage


async def _answer(parts: Parts, request: ModelRequest, call: Call) -> ModelAnswer:
    answering, said = metered(parts.meter, parts.model, request, call), 0
    async with parts.slots, aclosing(answering) as stream:
        async for item in stream:
            if isinstance(item, ModelAnswer):
                return item
            said += len(item.text) if isinstance(item, TextDelta | ReasoningDelta) else 0
            if said > LONGEST_ANSWER:
                raise EmptySummaryError("the summary does not end")
    raise EmptySummaryError("the service's answer has no end")
