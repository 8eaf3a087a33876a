"""The agent: runs, decisions and resets, for any number of sessions at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from bot.agent.again import asked_again
from bot.agent.approvals import Actor, MayDecide, Verdict
from bot.agent.context import ExecutionContext
from bot.agent.history.attachments import Attachments
from bot.agent.inputs import UserInput, user_events
from bot.agent.loop import endings
from bot.agent.loop.compacting import compact_by_hand
from bot.agent.loop.deciding import Decisions
from bot.agent.loop.driving import Events, told_failures
from bot.agent.loop.ending import pending
from bot.agent.loop.runner import Runner
from bot.agent.loop.sessions import LiveSessions
from bot.agent.loop.working_copy import MayContinue, OnRecorded
from bot.agent.model.models import Models
from bot.agent.model.service import Model
from bot.agent.parts import Parts
from bot.agent.policy.policy import FixedPolicy, Policy, Rules
from bot.agent.profiles import OneProfile, Profiles
from bot.agent.run import AgentRun, Outcome
from bot.agent.tools.tool import Tool, ToolSource, as_tool
from bot.agent.usage.meter import FreeMeter, Meter
from bot.errors import NotUndoneError
from bot.events import ApprovalRequestedEvent, Ask, Author, Decision, new_id
from bot.sessions import InMemorySessionManager, SessionManager, SessionStore


class Agent:
    """Answers messages in sessions, with a model and tools, and asks before it acts.

    `run`, `again`, `approve`, `deny`, `withdraw` and `resume` return an `AgentRun`: nothing happens
    until it is awaited or iterated over.

    Args:
        provider: The model service.
        session_manager: Where sessions live; without one, in memory.
        system_prompt: A text, or a function that gives it.
        tools: Functions, plain or made by `@tool`.
        toolsets: Where further tools come from, which may change while it runs.
        may_continue: Whether a user may continue a session; by default anyone the caller lets in.
        may_decide: Whether an actor may decide a request; by default anyone the caller lets in.
        approval_ttl: How long a request lives.
        max_steps: Model calls of one turn at the most.
        max_model_calls: Model calls at the same time at the most, over all sessions.
        context_window: Tokens that the model reads; 0: found out, where that can be.
        compact_at: The share of them from which on what is older is summarised.
        sees_images: Whether the model reads images; one that does not is only told their names.
        profiles: How single sessions are answered otherwise: model, prompt, tools.
        meter: Asked before each call of the model, and told what it used.
        policy: Which tools run freely, ask, or are off, and who may approve, in which session; by
            default as the tools themselves say. Where it names nobody, `may_decide` tells.
    """

    def __init__(
        self,
        *,
        provider: Model,
        session_manager: SessionManager | None = None,
        system_prompt: str | Callable[[], str] = "",
        tools: Sequence[Tool | Callable[..., Any]] = (),
        toolsets: Sequence[ToolSource] = (),
        may_continue: MayContinue = lambda session, user_id: True,
        may_decide: MayDecide = lambda request, actor: True,
        approval_ttl: timedelta = timedelta(hours=24),
        max_steps: int = 25,
        max_model_calls: int = 1000,
        context_window: int = 0,
        compact_at: float = 0.75,
        sees_images: bool = True,
        profiles: Profiles | None = None,
        meter: Meter | None = None,
        policy: Policy = FixedPolicy(),  # noqa: B008 - frozen
    ) -> None:
        manager = session_manager or InMemorySessionManager()
        made = [as_tool(function) for function in tools]
        if len({tool.name for tool in made}) < len(made):
            raise ValueError("two tools have the same name")
        models = Models(provider, window=context_window, share=compact_at)
        own = models.of(None)
        self._parts = Parts(
            models=models,
            model=own.model,
            manager=manager,
            own_tools={tool.name: tool for tool in made},
            toolsets=toolsets,
            system_prompt=system_prompt if callable(system_prompt) else lambda: system_prompt,
            approval_ttl=approval_ttl,
            max_steps=max_steps,
            slots=asyncio.Semaphore(max_model_calls),
            capacity=own.capacity,
            attachments=Attachments(manager, sees_images=sees_images),
            profiles=profiles or OneProfile(),
            meter=meter or FreeMeter(),
            policy=policy,
        )
        self._decisions = Decisions(self._parts, may_decide=may_decide)
        self._sessions = LiveSessions(manager, may_continue=may_continue)
        self._runner = Runner(self._parts, sessions=self._sessions, decisions=self._decisions)

    # -- runs --------------------------------------------------------------------------------------

    def run(
        self,
        user_input: UserInput,
        session_id: str | None = None,
        context: ExecutionContext | None = None,
        *,
        user_id: str | None = None,
    ) -> AgentRun:
        """Record a message and answer it, after the turns before it.

        While the session waits for an approval the run ends at once, as awaiting it; the message
        is answered by the run that continues the session.

        Raises (when awaited or iterated over):
            ValueError: for an empty message, a bad session id, or another session's context.
            AccessDeniedError: if this user may not continue the session.
        """
        if context is not None:
            session_id = context.session.session_id if session_id is None else session_id
            user_id = context.user_id if user_id is None else user_id
        name = new_id("session") if session_id is None else session_id

        def begin(outcome: Outcome) -> Events:
            if context is not None and context.session.session_id != name:
                raise ValueError("the context is another session's")
            outcome.context = context
            return self._runner.message(outcome, user_events(user_input, user_id), name, user_id)

        return _told(name, begin)

    def again(
        self, session_id: str, turn_id: str, *, by: Author | str, ask: Ask = Ask.RETRY
    ) -> AgentRun:
        """Ask for another answer of the latest turn, or for the rest of one: a turn of its own.

        However often, and by how many at once, it is asked about a turn: it counts once.

        Raises (when awaited or iterated over):
            AccessDeniedError: if there is no such session for this user.
            NotLatestError: if that is not the latest turn, or one has no end yet.
        """
        author = by if isinstance(by, Author) else Author(user_id=by)
        message = asked_again(turn_id, ask, author)
        return _told(
            session_id,
            lambda outcome: self._runner.again(outcome, message, session_id, author.user_id),
        )

    def approve(
        self,
        session_id: str,
        approval_id: str,
        *,
        by: Actor | str,
        note: str | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> AgentRun:
        """Approve a call, edited if `arguments` are given, and go on with the session.

        Raises (when awaited or iterated over):
            ApprovalNotFoundError: if this session has no such request.
            ApprovalDecidedError: if it was decided before, or its time is over.
            ApprovalRefusedError: if this actor may not decide it.
            ToolError: if edited arguments are invalid.
        """
        verdict = _verdict(approval_id, Decision.APPROVED, by, note)
        return self._decide(session_id, replace(verdict, arguments=arguments))

    def deny(
        self, session_id: str, approval_id: str, *, by: Actor | str, reason: str | None = None
    ) -> AgentRun:
        """Deny a call and go on with the session; raises what `approve` does."""
        return self._decide(session_id, _verdict(approval_id, Decision.DENIED, by, reason))

    def withdraw(
        self, session_id: str, approval_id: str, *, by: Actor | str, reason: str | None = None
    ) -> AgentRun:
        """Take a request back, as who asked, and go on; raises what `approve` does."""
        return self._decide(session_id, _verdict(approval_id, Decision.CANCELLED, by, reason))

    def resume(self, session_id: str) -> AgentRun:
        """Go on with whatever the session has open: after a restart, or when a request expires."""
        return _told(session_id, lambda outcome: self._runner.resumption(outcome, session_id))

    def _decide(self, session_id: str, verdict: Verdict) -> AgentRun:
        return _told(
            session_id, lambda outcome: self._runner.decision(outcome, session_id, verdict)
        )

    # -- at once -----------------------------------------------------------------------------------

    async def skip(
        self,
        user_input: UserInput,
        session_id: str,
        *,
        user_id: str | None = None,
        text: str = "",
    ) -> int:
        """Record messages that came too late to be answered; return how many were not known.

        They are one turn, which has ended; the model is not told of them.

        Args:
            user_input: What was said.
            session_id: Where it was said.
            user_id: For whom the session is, if there is none yet.
            text: What people are told.

        Raises:
            ValueError: for an empty message, or a bad session id.
            AccessDeniedError: if this user may not continue the session.
        """
        messages = user_events(user_input, user_id)
        return await self._runner.skip(messages, session_id, user_id, text=text)

    async def stop(self, session_id: str, *, by: str, turn_id: str | None = None) -> bool:
        """End the oldest open turn; return whether there was one. Those behind it are answered.

        With a `turn_id` only if it is that turn: who meant an earlier one comes too late.

        Raises:
            AccessDeniedError: if `by` may not continue the session.
        """
        stopping = partial(endings.stop, by=by, turn_id=turn_id)
        return bool(await self._sessions.within(session_id, by, stopping))

    async def reset(self, session_id: str, *, by: str) -> int:
        """End all open turns and begin anew; return how many messages the model forgets.

        Raises:
            AccessDeniedError: if `by` may not continue the session.
        """
        return await self._sessions.within(session_id, by, partial(endings.reset, by=by)) or 0

    async def undo_reset(self, session_id: str, seq: int, *, by: str) -> None:
        """Take back the reset with this number; what was said since stays, and turns stay ended.

        Raises:
            AccessDeniedError: if there is no such session for this user.
            NotUndoneError: if it is not the last boundary, or too long ago.
        """
        live = await self._sessions.found(session_id, by)
        if live is None or not isinstance(self._parts.manager, SessionStore):
            raise NotUndoneError(late=False)
        await endings.undo_reset(live, seq, by=by)

    async def end(self, session_id: str, turn_ids: Collection[str] | None, *, by: str) -> bool:
        """End those of some turns, or of all, that are open; return whether there were any.

        Raises:
            AccessDeniedError: if `by` may not continue the session.
        """
        ending = partial(endings.end, turn_ids=turn_ids, by=by)
        return bool(await self._sessions.within(session_id, by, ending))

    async def erase(self, session_id: str, turn_ids: Collection[str] | None, *, by: str) -> None:
        """End some turns, or all, and erase their content; needs a `SessionStore`.

        Raises:
            AccessDeniedError: if `by` may not continue the session.
        """
        erasing = partial(endings.erase, turn_ids=turn_ids, by=by)
        await self._sessions.within(session_id, by, erasing)

    async def forget(self, session_id: str, user_id: str) -> None:
        """Erase the ended turns in which somebody wrote, and where nobody else did, all there is.

        Needs a `SessionStore`.

        Raises:
            AccessDeniedError: if they may not continue the session.
        """
        await self._sessions.within(session_id, user_id, lambda live: live.forget(user_id))

    async def unquote(self, session_id: str, user_id: str) -> None:
        """Erase what messages of a session quote of somebody; needs a `SessionStore`."""
        await self._sessions.within(session_id, None, lambda live: live.unquote(user_id))

    async def delete(self, session_id: str, *, by: str) -> bool:
        """End what is open in a session and delete it; return whether there was one.

        Needs a `SessionStore`.

        Raises:
            AccessDeniedError: if `by` may not continue the session.
        """
        return bool(await self._sessions.within(session_id, by, partial(endings.delete, by=by)))

    async def compact(self, session_id: str, *, by: str) -> int:
        """Summarise all but the latest turns now; return how many messages that was.

        Raises:
            AccessDeniedError: if `by` may not continue the session.
            BudgetUsedUpError: if the model may not be called for `by`.
            ModelError: if the model gives no summary; the session is as it was.
        """
        live = await self._sessions.found(session_id, by)
        if live is None:
            return 0
        done = await compact_by_hand(await self._parts.of(session_id), live, by)
        return done.messages if done else 0

    async def pending(self, session_id: str) -> Sequence[ApprovalRequestedEvent]:
        """Return the requests of a session that wait for a human, oldest first."""
        live = await self._sessions.found(session_id)
        return pending(live.session) if live else ()

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools that there are now, by name."""
        return self._parts.tools

    async def rules(self, session_id: str) -> Rules:
        """Return what policy says of tools in a session now."""
        return await self._parts.policy.refreshed(session_id)

    async def may_decide(self, session_id: str, request: ApprovalRequestedEvent, by: Actor) -> bool:
        """Return whether somebody may decide a request, as policy is now."""
        return self._decisions.refusal(await self.rules(session_id), request, by) is None

    def watch(
        self, on_recorded: OnRecorded, *, on_outage: Callable[[], None] = lambda: None
    ) -> None:
        """Have a function called with a session's id and what was recorded in it, each time.

        Another one is called when the log could not be read or written, and no run tells of it: the
        turns stay open until somebody resumes the session.
        """
        self._sessions.on_recorded = on_recorded
        self._runner.watch(on_outage)

    def suspend(self) -> None:
        """From now on a run that is left early leaves its turn open, for the next start."""
        self._runner.suspend()

    async def close(self) -> None:
        """Close the model's connections, and the session manager if it can be closed."""
        await self._runner.end()
        await self._parts.model.close()
        close = getattr(self._parts.manager, "close", None)
        if close is not None:
            await close()
        self._runner.forget()


def _told(session_id: str, begin: Callable[[Outcome], Events]) -> AgentRun:
    return AgentRun(lambda outcome: told_failures(outcome, session_id, begin(outcome)))


def _verdict(approval_id: str, decision: Decision, by: Actor | str, reason: str | None) -> Verdict:
    actor = by if isinstance(by, Actor) else Actor(user_id=by)
    return Verdict(approval_id=approval_id, decision=decision, actor=actor, reason=reason or "")
