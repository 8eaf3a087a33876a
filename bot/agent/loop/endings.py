"""What people end and take back by hand: turns, and a reset."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from bot.agent.history.compaction import is_boundary
from bot.agent.loop.closing import Shown, end_turn
from bot.agent.loop.heeding import HEED_EVERY
from bot.agent.loop.live import Decide, LiveSession
from bot.agent.loop.loop import stopped
from bot.agent.loop.steps import Wait, goes_on, next_step
from bot.errors import NotUndoneError
from bot.events import RecordedEvent, ResetEvent, StopRequestedEvent, UserMessageEvent, utc_now
from bot.sessions import Session

UNDO_WITHIN = timedelta(minutes=10)
CARRIED_OUT_WITHIN = HEED_EVERY + 1.0
"""Seconds after which whoever asked another process to end a turn ends it."""
LOOKED_AFTER = 0.05


async def stop(live: LiveSession, *, by: str, turn_id: str | None = None) -> bool:
    """End the oldest open turn, if it is the one that is meant; return whether it was open."""
    oldest = live.session.open_turns[:1]
    if not oldest or turn_id not in (None, oldest[0].turn_id):
        return False
    return await end(live, [oldest[0].turn_id], by=by)


async def reset(live: LiveSession, *, by: str) -> int:
    """End all turns and begin anew; return how many messages the model forgets."""
    await _ended_elsewhere(live, None, by=by)
    shown, forgotten = live.shown, 0
    live.interrupts.interrupt()

    def decide(session: Session) -> Sequence[RecordedEvent]:
        nonlocal forgotten
        forgotten = sum(isinstance(e, UserMessageEvent) for e in session.events)
        ends = _ends(session, _open_among(session), by, shown)
        return [*ends, ResetEvent(by=by, window_before=session.window_from)]

    await live.record(decide)
    return forgotten


async def undo_reset(live: LiveSession, seq: int, *, by: str) -> None:
    """Take the reset number `seq` back, if that may be."""
    await live.record(lambda session: [undone(session, seq, by=by, now=utc_now())])


async def end(live: LiveSession, turn_ids: Collection[str] | None, *, by: str) -> bool:
    """End those of some turns, or of all, that are open; return whether there were any."""
    asked = await _ended_elsewhere(live, turn_ids, by=by)
    return bool(await live.record(_ending(live, turn_ids, by=by))) or asked


async def erase(live: LiveSession, turn_ids: Collection[str] | None, *, by: str) -> None:
    """End some turns, or all, and erase their content."""
    await _ended_elsewhere(live, turn_ids, by=by)
    await live.erase(turn_ids, _ending(live, turn_ids, by=by))


async def delete(live: LiveSession, *, by: str) -> bool:
    """End what is open in a session, and delete it."""
    await _ended_elsewhere(live, None, by=by)
    await live.delete(_ending(live, None, by=by))
    return True


async def _ended_elsewhere(live: LiveSession, turn_ids: Collection[str] | None, *, by: str) -> bool:
    """Have the process that runs the session end some turns, or all; return whether it was asked.

    It alone knows what was shown of an answer, which is recorded with the end. What it leaves
    open, because it has died or does not look, is for the caller to end; so is what it is not at,
    since it may have let go of the session: nobody would hear of the request.
    """
    if not await live.lease.is_elsewhere():
        return False
    meant = _open_among(live.session, turn_ids)  # not what is written while we wait

    def ask(session: Session) -> Sequence[RecordedEvent]:
        if not _is_at_work(session, meant):
            return []
        ids = (each for each in _open_among(session, meant) if goes_on(session, each))
        return [StopRequestedEvent(turn_id=each, by=by) for each in ids]

    asked = await live.record(ask)
    with suppress(TimeoutError):
        async with asyncio.timeout(CARRIED_OUT_WITHIN):
            while _is_at_work(live.session, meant):
                await asyncio.sleep(LOOKED_AFTER)
                await live.look()
    return bool(asked)


def _ending(live: LiveSession, turn_ids: Collection[str] | None, *, by: str) -> Decide:
    """Return what ends those of some turns, or of all, that are open; the run of one is cut off."""
    shown = live.shown
    if live.is_open and _has_first(live.session, turn_ids):
        live.interrupts.interrupt()
    return lambda session: _ends(session, _open_among(session, turn_ids), by, shown)


def undone(session: Session, seq: int, *, by: str, now: datetime) -> ResetEvent:
    """Return what takes the reset number `seq` back; turns that it ended stay ended.

    Raises:
        NotUndoneError: if it is not the last boundary, or too long ago.
    """
    last = next((event for event in reversed(session.events) if is_boundary(event)), None)
    if not isinstance(last, ResetEvent) or last.seq != seq or last.undoes or not last.window_before:
        raise NotUndoneError(late=False)
    if now - last.at > UNDO_WITHIN:
        raise NotUndoneError(late=True)
    return ResetEvent(by=by, window_from=last.window_before)


def _open_among(session: Session, turn_ids: Collection[str] | None = None) -> Sequence[str]:
    ids = (turn.turn_id for turn in session.open_turns)
    return [each for each in ids if turn_ids is None or each in turn_ids]


def _has_first(session: Session, turn_ids: Collection[str] | None) -> bool:
    """Return whether the turn that is answered first is among some turns."""
    first = _open_among(session)[:1]
    return bool(first) and first == _open_among(session, turn_ids)[:1]


def _is_at_work(session: Session, turn_ids: Collection[str]) -> bool:
    """Return whether whoever runs the session is at one of some turns."""
    waits = isinstance(next_step(session.unfinished()), Wait)
    return not waits and _has_first(session, turn_ids)


def _ends(
    session: Session, turn_ids: Sequence[str], by: str, shown: Shown | None
) -> list[RecordedEvent]:
    ends = (end_turn(session, stopped(each), by=by, shown=shown) for each in turn_ids)
    return [event for events in ends for event in events]
