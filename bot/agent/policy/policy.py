"""Policy: which tools run freely, which ask and whom, and which are off; in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from bot.agent.policy.ceiling import within
from bot.agent.policy.rule import NOTHING, UNSAID, Grant, Mode, OperatorRule, Rule
from bot.errors import ApprovalRefusedError
from bot.events import ApprovalRequestedEvent

if TYPE_CHECKING:
    from bot.agent.approvals import Actor
    from bot.agent.tools.tool import Tool
    from bot.sessions import Session


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one place at one moment: read before something is recorded, then only asked.

    Attributes:
        operator: Returns what the operator says of a tool here.
        managers: What those who manage this server say, by tool.
        grants: The standing yeses that hold here.
    """

    operator: Callable[[str], OperatorRule] = lambda tool: UNSAID
    managers: Mapping[str, Rule] = field(default_factory=dict)
    grants: Sequence[Grant] = ()

    def of(self, tool: Tool) -> Rule:
        """Return the whole rule of a tool: its own word counts least."""
        own = Rule(mode=Mode.OWN, approvers=tool.approvers)
        managers = self.managers.get(tool.name, NOTHING)
        return within(tool, self.operator(tool.name), managers).over(own)

    def mode(self, tool: Tool, arguments: Mapping[str, Any], session: Session) -> Mode:
        """Return what a call needs there: `FREE`, `ASK` or `NEVER`."""
        granted = self.grant(tool, arguments, session) is not None
        return Mode.FREE if granted else self._said(tool, arguments, session)

    def grant(self, tool: Tool, arguments: Mapping[str, Any], session: Session) -> Grant | None:
        """Return the standing yes that lets a call run, where it would have to be asked for.

        There is none where it takes two people.
        """
        granted = (each for each in self.grants if each.covers(tool.name, arguments))
        found = None if self.takes_two(tool) else next(granted, None)
        return found if found and self._said(tool, arguments, session) is Mode.ASK else None

    def _said(self, tool: Tool, arguments: Mapping[str, Any], session: Session) -> Mode:
        mode = self.of(tool).mode or Mode.OWN
        if mode is not Mode.OWN:
            return mode
        return Mode.ASK if tool.is_gated(arguments, session) else Mode.FREE

    def takes_two(self, tool: Tool) -> bool:
        """Whether somebody else than who asked has to approve."""
        approvers = self.of(tool).approvers
        return approvers is not None and approvers.two_person

    def refusal(
        self, tool: Tool | None, request: ApprovalRequestedEvent, actor: Actor, *, otherwise: bool
    ) -> ApprovalRefusedError | None:
        """Return why somebody may not decide a request; nothing if they may.

        Args:
            tool: The tool, if it is still there.
            request: What is asked.
            actor: Who would decide.
            otherwise: Whether they may where no rule names anybody.
        """
        approvers = self.of(tool).approvers if tool else None
        if approvers and approvers.two_person and actor.user_id == request.requested_by:
            text = "You may not decide this request: it takes somebody else than who asked."
            return ApprovalRefusedError(text, by_rule=True)
        if approvers is None or not approvers.names_people:
            return None if otherwise else ApprovalRefusedError("You may not decide this request.")
        if approvers.include(request.requested_by, actor):
            return None
        text = f"You may not decide this request. Who may: {', '.join(approvers.words)}."
        return ApprovalRefusedError(text, by_rule=True)


class Policy(Protocol):
    """Where rules come from."""

    async def refreshed(self, session_id: str) -> Rules:
        """Return the rules of a session as they are now."""
        ...


@dataclass(frozen=True, slots=True)
class FixedPolicy:
    """The same rules everywhere; by default every tool is as it says itself."""

    rules: Rules = Rules()

    async def refreshed(self, session_id: str) -> Rules:
        """Return them."""
        return self.rules
