"""Decisions on requests, whichever way they are asked for; each gives a sentence to say."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.agent import Actor, Agent, AgentRun
from bot.agent.policy.rule import Grant
from bot.agent.policy.standing import grant_to_json
from bot.errors import (
    ApprovalDecidedError,
    ApprovalNotFoundError,
    ApprovalRefusedError,
    StorageError,
    ToolError,
)
from bot.events import ApprovalRequestedEvent
from bot.frontend.access import may_withdraw
from bot.frontend.control import NOT_HERE
from bot.frontend.ids import Place
from bot.frontend.showing.reconcile import Reconciler
from bot.frontend.showing.runs import Runs
from bot.frontend.stores import Stores
from bot.frontend.text import plain
from bot.frontend.view.card import person
from bot.sessions.stores.policies import ChangeKind, PolicyChange, server_scope

logger = logging.getLogger(__name__)

WHO_DECIDES = "People with Manage Server, and those named in my configuration, may."
APPROVED, DENIED, WITHDRAWN = "Approved.", "Denied.", "Withdrawn."
ONCE = "Approved, but only this once: I cannot write my memory right now."
ALWAYS = "Approved, and from now on without asking. `/policy` lists it, and can take it back."


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that somebody points at, and who they are where it was asked."""

    session_id: str
    request: ApprovalRequestedEvent
    decided: bool
    actor: Actor


@dataclass(frozen=True, slots=True)
class Scope:
    """What a standing yes is for: this place or its whole server, and which argument is free."""

    server: bool = False
    free: str = ""


class Decisions:
    """Does what approvers and askers ask for, if they may."""

    def __init__(self, *, agent: Agent, stores: Stores, runs: Runs, reconciler: Reconciler) -> None:
        self._agent = agent
        self._store = stores.sessions
        self._homes = stores.homes
        self._policies = stores.policies
        self._runs = runs
        self._reconciler = reconciler

    async def pending(self, session_id: str) -> Sequence[ApprovalRequestedEvent]:
        """Return what waits for a decision in a session."""
        return await self._agent.pending(session_id)

    async def open_to(self, session_id: str, actor: Actor) -> Sequence[ApprovalRequestedEvent]:
        """Return what waits there and somebody may decide or take back.

        Others are not told of it: its card may be in a channel that they cannot see.
        """
        return [
            each
            for each in await self._agent.pending(session_id)
            if may_withdraw(each, actor) or await self._agent.may_decide(session_id, each, actor)
        ]

    async def asked(
        self, approval_id: str, here: Place, server_id: int | None, actor: Actor
    ) -> Asked | None:
        """Return the request of a card, wherever the card is.

        Who has roles or Manage Server where they click has them for requests of that server only.
        """
        found = await self._store.find_approval(approval_id)
        if found is None:
            return None
        if found.session_id != here.session_id:
            home = await self._homes.of(found.session_id)
            if server_id is None or home is None or home.server_id != server_id:
                actor = replace(actor, roles=frozenset(), moderator=False)
        return Asked(found.session_id, found.request, found.decision is not None, actor)

    async def may_decide(self, asked: Asked) -> bool:
        """Return whether who points at a request may decide it."""
        return await self._agent.may_decide(asked.session_id, asked.request, asked.actor)

    async def may_allow_always(self, asked: Asked) -> bool:
        """Return whether who points at a request may allow it once and for all.

        Not where it takes two, nor by who may decide only what they asked for themselves: it would
        hold for what others ask. In a DM nobody could list it and take it back.
        """
        tool = self._agent.tools.get(asked.request.tool)
        rules = await self._agent.rules(asked.session_id)
        if tool is None or rules.takes_two(tool):
            return False
        if await self._homes.of(asked.session_id) is None:
            return False
        anybodys = replace(asked, request=replace(asked.request, requested_by=""))
        return await self.may_decide(anybodys)

    async def approve(
        self,
        session_id: str,
        approval_id: str,
        actor: Actor,
        note: str = "",
        arguments: Mapping[str, Any] | None = None,
    ) -> str:
        """Approve a call, edited if there are arguments; return what to tell the actor."""
        run = self._agent.approve(
            session_id, approval_id, by=actor, note=note or None, arguments=arguments
        )
        return await self._decide(session_id, approval_id, run, APPROVED)

    async def deny(self, session_id: str, approval_id: str, actor: Actor, reason: str = "") -> str:
        """Deny a call; who asked for it, and may not decide, takes the request back instead."""
        run = self._agent.deny(session_id, approval_id, by=actor, reason=reason or None)
        try:
            return await self._record(session_id, approval_id, run, DENIED)
        except ApprovalRefusedError as exc:
            found = await self._store.find_approval(approval_id)
            if found is None or not may_withdraw(found.request, actor):
                return _refused(exc)
        return await self.withdraw(session_id, approval_id, actor, reason)

    async def withdraw(
        self, session_id: str, approval_id: str, actor: Actor, reason: str = ""
    ) -> str:
        """Take a request back, as who asked."""
        run = self._agent.withdraw(session_id, approval_id, by=actor, reason=reason or None)
        return await self._decide(session_id, approval_id, run, WITHDRAWN)

    async def always(self, asked: Asked, scope: Scope) -> str:
        """Approve a call, and from now on those like it.

        The approval comes first: it tells whether this actor may.
        """
        home = await self._homes.of(asked.session_id)
        if home is None or not await self.may_allow_always(asked):
            return "This cannot be allowed once and for all."
        grant = Grant(
            grant_id="",
            scope=server_scope(home.server_id) if scope.server else asked.session_id,
            tool=asked.request.tool,
            arguments=asked.request.arguments,
            free=scope.free,
        )
        approval_id = asked.request.approval_id
        note = f"always, {told(grant)}"
        said = await self.approve(asked.session_id, approval_id, asked.actor, note)
        if said != APPROVED:
            return said
        change = PolicyChange(
            scope=grant.scope,
            kind=ChangeKind.GRANT,
            subject=grant.tool,
            by=asked.actor.user_id,
            body=grant_to_json(grant),
        )
        try:
            await self._policies.add(change)
        except StorageError as exc:
            logger.warning("%s is not allowed from now on: %s", grant.tool, exc)
            return ONCE
        return ALWAYS

    async def withhold(self, session_id: str, approval_id: str, why: str) -> None:
        """Deny a call that nobody can be asked about."""
        bot = Actor(user_id="bot", owner=True)
        await self.deny(session_id, approval_id, bot, why)

    async def _decide(self, session_id: str, approval_id: str, run: AgentRun, done: str) -> str:
        try:
            return await self._record(session_id, approval_id, run, done)
        except ApprovalRefusedError as exc:
            return _refused(exc)

    async def _record(self, session_id: str, approval_id: str, run: AgentRun, done: str) -> str:
        found = await self._store.find_approval(approval_id)
        if found is None or found.session_id != session_id:
            return NOT_HERE
        try:
            await self._runs.begin_by_hand(session_id, run)
        except ApprovalDecidedError as exc:
            self._reconciler.wake(session_id)
            return too_late(exc)
        except ApprovalNotFoundError:
            return NOT_HERE
        except ToolError as exc:
            return plain(str(exc), 1000)
        return done


def told(grant: Grant) -> str:
    """Return in words what a standing yes is for."""
    where = "in this server" if grant.scope.startswith("server-") else "in this place"
    if not grant.free:
        return f"{where} with exactly these arguments"
    return f"{where} whatever {grant.free} is"


def too_late(error: ApprovalDecidedError) -> str:
    """Return what somebody is told who decides second."""
    when = f"<t:{int(error.at.timestamp())}:R>"
    if error.decision == "expired":
        return f"Too late: the request expired {when}."
    return f"Too late: already {error.decision} by {person(error.by)} {when}."


def _refused(error: ApprovalRefusedError) -> str:
    return f"{error}" if error.by_rule else f"{error} {WHO_DECIDES}"
