"""Decisions, stops and resets, whichever way they are asked for; each gives a sentence to say."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from bot.agent import Actor, Agent, AgentRun
from bot.agent.failures import failure_of
from bot.errors import (
    AccessDeniedError,
    ApprovalDecidedError,
    ApprovalNotFoundError,
    ApprovalRefusedError,
    BudgetUsedUpError,
    ModelError,
    NotLatestError,
)
from bot.events import (
    ApprovalRequestedEvent,
    Ask,
    Author,
    ErrorEvent,
    UserMessageEvent,
)
from bot.frontend.access import may_decide, may_stop, may_withdraw
from bot.frontend.card import person
from bot.frontend.ids import user_of
from bot.frontend.options import FrontendOptions
from bot.frontend.rate import TOO_FAST, Rate, Verdict
from bot.frontend.reconcile import Reconciler
from bot.frontend.runs import Runs
from bot.frontend.tasks import Tasks
from bot.sessions import SessionStore

P = ParamSpec("P")
T = TypeVar("T")

WHO_DECIDES = "People with Manage Server, and those named in my configuration, may."
NOTHING_TO_STOP = "There is nothing to stop here."
NO_CONVERSATION = "There is no conversation here yet."
NOT_HERE = "I know of no such request here."
NOT_YOU = "You may not talk to me here."
ASKED = "Asked."
BUSY = "I am still at work here. Please wait until I am done."
NOT_LATEST = "Something was said since: this works only under the latest answer."


def _owned(
    method: Callable[Concatenate[Control, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Control, P], Coroutine[Any, Any, T]]:
    """Let the front end own what a method does: discord.py's own tasks are awaited by nobody."""

    @wraps(method)
    async def owned(self: Control, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.tasks.task(method(self, *args, **kwargs), name=method.__name__)

    return owned


class Control:
    """Does what approvers, moderators and askers ask for, if they may."""

    def __init__(
        self,
        *,
        agent: Agent,
        store: SessionStore,
        runs: Runs,
        reconciler: Reconciler,
        rate: Rate,
        options: FrontendOptions,
        tasks: Tasks,
    ) -> None:
        self.tasks = tasks
        self._agent = agent
        self._store = store
        self._runs = runs
        self._reconciler = reconciler
        self._rate = rate
        self._options = options

    @_owned
    async def pending(self, session_id: str) -> Sequence[ApprovalRequestedEvent]:
        """Return what waits for a decision in a session."""
        return await self._agent.pending(session_id)

    @_owned
    async def approve(self, session_id: str, approval_id: str, actor: Actor, note: str = "") -> str:
        """Approve a call; return what to tell the actor."""
        run = self._agent.approve(session_id, approval_id, by=actor, note=note or None)
        return await self._decide(session_id, approval_id, run, "Approved.")

    @_owned
    async def deny(self, session_id: str, approval_id: str, actor: Actor, reason: str = "") -> str:
        """Deny a call; who asked for it, and may not decide, takes the request back instead."""
        found = await self._store.find_approval(approval_id)
        withdraws = (
            found is not None
            and may_withdraw(found.request, actor)
            and not may_decide(self._options, actor)
        )
        act, done = (
            (self._agent.withdraw, "Withdrawn.") if withdraws else (self._agent.deny, "Denied.")
        )
        run = act(session_id, approval_id, by=actor, reason=reason or None)
        return await self._decide(session_id, approval_id, run, done)

    async def withhold(self, session_id: str, approval_id: str, why: str) -> None:
        """Deny a call that nobody can be asked about."""
        bot = Actor(user_id="bot", owner=True)
        await self.deny(session_id, approval_id, bot, why)

    async def _decide(self, session_id: str, approval_id: str, run: AgentRun, done: str) -> str:
        found = await self._store.find_approval(approval_id)
        if found is None or found.session_id != session_id:
            return NOT_HERE
        try:
            first = await self._runs.begin(session_id, run)
        except ApprovalDecidedError as exc:
            self._reconciler.wake(session_id)
            return _too_late(exc)
        except ApprovalRefusedError as exc:
            return f"{exc} {WHO_DECIDES}"
        except ApprovalNotFoundError:
            return NOT_HERE
        return first.message if isinstance(first, ErrorEvent) else done

    @_owned
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

    @_owned
    async def again(self, session_id: str, turn_id: str, ask: Ask, by: Author, at: float) -> str:
        """Ask about the latest turn, as somebody who may talk, at a time; return what to say."""
        if self._rate.ask(user_of(by.user_id) or 0, at) is not Verdict.ANSWER:
            return TOO_FAST
        try:
            run = self._agent.again(session_id, turn_id, by=by, ask=ask)
            first = await self._runs.begin(session_id, run)
        except NotLatestError as exc:
            return BUSY if exc.busy else NOT_LATEST
        except AccessDeniedError:
            return NOT_HERE
        return first.message if isinstance(first, ErrorEvent) else ASKED

    @_owned
    async def reset(self, session_id: str, actor: Actor) -> str:
        """Begin the conversation anew; return what to say."""
        if await self._store.get(session_id) is None:
            return NO_CONVERSATION
        forgotten = await self._agent.reset(session_id, by=actor.user_id)
        self._reconciler.wake(session_id)
        noun = "message" if forgotten == 1 else "messages"
        return f"I have forgotten {forgotten} {noun} of this conversation."

    @_owned
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


def _too_late(error: ApprovalDecidedError) -> str:
    when = f"<t:{int(error.at.timestamp())}:R>"
    if error.decision == "expired":
        return f"Too late: the request expired {when}."
    return f"Too late: already {error.decision} by {person(error.by)} {when}."
