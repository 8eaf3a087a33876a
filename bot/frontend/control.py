"""Stops and resets, whichever way they are asked for; each gives a sentence to say."""

from __future__ import annotations

from collections.abc import Sequence

from bot.agent import Actor, Agent
from bot.agent.loop.failures import failure_of
from bot.errors import (
    AccessDeniedError,
    BudgetUsedUpError,
    ModelError,
    NotLatestError,
    NotUndoneError,
)
from bot.events import (
    Ask,
    Author,
    UserMessageEvent,
)
from bot.frontend.access import may_ask_again, may_stop
from bot.frontend.ids import user_of
from bot.frontend.rate import TOO_FAST, Rate, Verdict
from bot.frontend.showing.reconcile import Reconciler
from bot.frontend.showing.runs import Runs
from bot.sessions import SessionStore

NOTHING_TO_STOP = "There is nothing to stop here."
NO_CONVERSATION = "There is no conversation here yet."
NOT_HERE = "I know of no such request here."
NOT_YOU = "You may not talk to me here."
NOT_YOURS = "Only who asked may ask that again."
ASKED = "Asked."
UNDO_WORKS = "*Undo* takes that back for ten minutes."
UNDONE = "Undone."
UNDO_LATE = "Too late: a reset can be undone for ten minutes."
UNDO_NOT_LAST = "This reset cannot be undone any more."
BUSY = "I am still at work here. Please wait until I am done."
NOT_LATEST = "Something was said since: this works only under the latest answer."


class Control:
    """Does what moderators and askers ask for, if they may."""

    def __init__(
        self,
        *,
        agent: Agent,
        store: SessionStore,
        runs: Runs,
        reconciler: Reconciler,
        rate: Rate,
    ) -> None:
        self._agent = agent
        self._store = store
        self._runs = runs
        self._reconciler = reconciler
        self._rate = rate

    async def stop(self, session_id: str, actor: Actor, turn_id: str | None = None) -> str:
        """Stop what is being answered, if it is the turn that is meant; return what to say."""
        session = await self._store.get(session_id)
        turn = session.open_turns[0].turn_id if session and session.open_turns else None
        if session is None or turn is None or turn_id not in (None, turn):
            return NOTHING_TO_STOP
        if not may_stop(_asker(session.turn(turn)), actor):
            return "Only who asked, or a moderator, may stop this."
        if not await self._agent.stop(session_id, by=actor.user_id, turn_id=turn):
            return NOTHING_TO_STOP
        self._reconciler.wake(session_id)
        self._runs.start(session_id, self._agent.resume(session_id))
        return "Stopped."

    async def again(self, session_id: str, turn_id: str, ask: Ask, by: Author, at: float) -> str:
        """Ask about the latest turn, as who asked it, at a time; return what to say."""
        session = await self._store.get(session_id)
        if session is None:
            return NOT_HERE
        asker = _asker(session.turn(turn_id))
        if asker is None:
            return NOT_LATEST
        if not may_ask_again(asker, by):
            return NOT_YOURS
        if self._rate.ask(user_of(by.user_id) or 0, at) is not Verdict.ANSWER:
            return TOO_FAST
        try:
            run = self._agent.again(session_id, turn_id, by=by, ask=ask)
            await self._runs.begin_by_hand(session_id, run)
        except NotLatestError as exc:
            return BUSY if exc.busy else NOT_LATEST
        except AccessDeniedError:
            return NOT_HERE
        return ASKED

    async def reset(self, session_id: str, actor: Actor) -> str:
        """Begin the conversation anew; return what to say."""
        if await self._store.get(session_id) is None:
            return NO_CONVERSATION
        forgotten = await self._agent.reset(session_id, by=actor.user_id)
        self._reconciler.wake(session_id)
        noun = "message" if forgotten == 1 else "messages"
        return f"I have forgotten {forgotten} {noun} of this conversation. {UNDO_WORKS}"

    async def undo_reset(self, session_id: str, seq: int, actor: Actor) -> str:
        """Take a reset back; return what to say."""
        try:
            await self._agent.undo_reset(session_id, seq, by=actor.user_id)
        except NotUndoneError as exc:
            return UNDO_LATE if exc.late else UNDO_NOT_LAST
        self._reconciler.wake(session_id)
        return UNDONE

    async def compact(self, session_id: str, actor: Actor) -> str:
        """Summarise the earlier part of the conversation; return what to say."""
        if await self._store.get(session_id) is None:
            return NO_CONVERSATION
        try:
            count = await self._agent.compact(session_id, by=actor.user_id)
        except BudgetUsedUpError as exc:
            return str(exc)
        except ModelError as exc:
            failure = failure_of(exc, session_id=session_id)
            return f"I could not summarise it. {failure.text} (reference {failure.reference})"
        self._reconciler.wake(session_id)
        if not count:
            return "There is nothing to summarise yet."
        return f"{count} {'message' if count == 1 else 'messages'} summarised."


def _asker(turn: Sequence[object]) -> str | None:
    authors = (e.author for e in turn if isinstance(e, UserMessageEvent) and e.author)
    return next((author.user_id for author in authors), None)
