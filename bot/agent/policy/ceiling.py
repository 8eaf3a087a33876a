"""How the rules of operator and managers come together: managers stay within the operator's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.agent.approvers import Approvers
from bot.agent.policy.rule import Mode, OperatorRule, Rule

if TYPE_CHECKING:
    from bot.agent.tools.tool import Tool


def within(tool: Tool, operator: OperatorRule, managers: Rule) -> Rule:
    """Return the rule of a tool, with what its server's managers say as far as they may."""
    return allowed(tool, operator, managers).over(operator.rule)


def objection(tool: Tool, operator: OperatorRule, managers: Rule) -> str:
    """Return why managers may not set a rule; nothing if they may."""
    if allowed(tool, operator, managers) == managers:
        return ""
    freest = _plain(tool, _freest(operator))
    return (
        f"The operator of this bot lets you make `{tool.name}` stricter here, not freer: the "
        f"freest you may set is {freest}, and those who may approve stay as they are."
    )


def allowed(tool: Tool, operator: OperatorRule, managers: Rule) -> Rule:
    """Return what managers say of a tool, as far as they may."""
    mode = managers.mode
    if mode is not None and not _may_set(tool, operator, mode):
        mode = None
    expires_in, most = managers.expires_in, operator.rule.expires_in
    if expires_in is not None and most is not None and expires_in > most:
        expires_in = None
    return Rule(
        mode=mode, approvers=_approvers(tool, operator, managers.approvers), expires_in=expires_in
    )


def _may_set(tool: Tool, operator: OperatorRule, mode: Mode) -> bool:
    freest = _plain(tool, _freest(operator))
    return _plain(tool, mode).strictness >= freest.strictness


def _freest(operator: OperatorRule) -> Mode:
    said = (operator.managers or Mode.NEVER, operator.rule.mode or Mode.OWN)
    return min(said, key=lambda mode: mode.strictness)


def _plain(tool: Tool, mode: Mode) -> Mode:
    """Return a mode with what the tool says itself put in, where it does not go by arguments."""
    if mode is Mode.OWN and isinstance(tool.approval, bool):
        return Mode.ASK if tool.approval else Mode.FREE
    return mode


def _approvers(tool: Tool, operator: OperatorRule, managers: Approvers | None) -> Approvers | None:
    """Return what managers say of who may approve, as far as they may.

    They name people where neither the operator nor the tool has; who asked only where the tool
    may be free; and that it takes two people always.
    """
    if managers is None or not managers.names_people:
        return managers
    fixed = operator.rule.over(Rule(approvers=tool.approvers)).approvers
    frees = managers.requester and not _may_set(tool, operator, Mode.FREE)
    if not frees and (fixed is None or not fixed.names_people):
        return managers
    return Approvers(two_person=True) if managers.two_person else None
