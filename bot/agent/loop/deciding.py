"""Decisions: who may take them, recorded once, and what they need to come true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bot.agent.approvals import Actor, MayDecide, Verdict, decide, decided_error, find_request
from bot.agent.calls import CallState
from bot.agent.loop.live import LiveSession
from bot.agent.parts import Parts
from bot.agent.policy.policy import Rules
from bot.agent.tools.tool import Tool
from bot.errors import (
    AccessDeniedError,
    ApprovalNotFoundError,
    ApprovalRefusedError,
    ToolError,
)
from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    Decision,
    RecordedEvent,
    utc_now,
)
from bot.failpoints import around
from bot.sessions import Session, SessionStore


class Decisions:
    """Records what people decide of the requests of sessions."""

    def __init__(self, parts: Parts, *, may_decide: MayDecide) -> None:
        self._parts = parts
        self._may_decide = may_decide

    async def record(self, live: LiveSession, verdict: Verdict, *, take: str) -> RecordedEvent:
        """Record what becomes of a request, as policy is now, to go on in the name `take`.

        Raises:
            ApprovalNotFoundError: if this session has no such request.
            ApprovalDecidedError: if it was decided before, or its time is over.
            ApprovalRefusedError: if this actor may not decide it.
            ToolError: if edited arguments are invalid, or the tool is away.
        """
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
                [decided] = await live.record(record, take=take)
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
