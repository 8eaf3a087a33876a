"""What was decided about tools in a place, folded from its changes: rules, and standing yeses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, assert_never

from bot.agent.approvers import Approvers
from bot.agent.policy.rule import Grant, Mode, Rule
from bot.sessions.stores.policies import ChangeKind, PolicyChange


@dataclass(frozen=True, slots=True)
class Standing:
    """What holds after some changes.

    Attributes:
        rules: The managers' rules by tool.
        grants: The standing yeses that were not revoked, by id.
    """

    rules: Mapping[str, Rule] = field(default_factory=dict)
    grants: Mapping[str, Grant] = field(default_factory=dict)


def standing(changes: Iterable[PolicyChange]) -> Standing:
    """Return what holds after these changes, the oldest of them first.

    A rule ends the standing yeses before it: they were given by whom the rule then let.
    """
    rules: dict[str, Rule] = {}
    grants: dict[str, Grant] = {}
    for change in changes:
        match change.kind:
            case ChangeKind.RULE:
                rules.pop(change.subject, None)
                if change.body:
                    rules[change.subject] = rule_from(change.body)
                grants = {key: yes for key, yes in grants.items() if yes.tool != change.subject}
            case ChangeKind.GRANT:
                grants[change.change_id] = _grant(change)
            case ChangeKind.REVOKE:
                grants.pop(change.subject, None)
            case never:
                assert_never(never)
    return Standing(rules, grants)


def rule_to_json(rule: Rule) -> Mapping[str, Any]:
    """Return a rule as JSON."""
    said: dict[str, Any] = {
        "mode": rule.mode,
        "approvers": " ".join(rule.approvers.words) if rule.approvers is not None else None,
        "expires_in": rule.expires_in.total_seconds() if rule.expires_in is not None else None,
    }
    return {name: value for name, value in said.items() if value is not None}


def rule_from(body: Mapping[str, Any]) -> Rule:
    """Return the rule that `rule_to_json` told."""
    mode, approvers, seconds = (body.get(k) for k in ("mode", "approvers", "expires_in"))
    return Rule(
        mode=Mode(mode) if mode else None,
        approvers=Approvers.of(approvers) if approvers else None,
        expires_in=timedelta(seconds=seconds) if seconds else None,
    )


def grant_to_json(grant: Grant) -> Mapping[str, Any]:
    """Return what was granted as JSON; the rest is the change's own."""
    return {"arguments": dict(grant.arguments), "free": grant.free}


def _grant(change: PolicyChange) -> Grant:
    return Grant(
        grant_id=change.change_id,
        scope=change.scope,
        tool=change.subject,
        arguments=change.body["arguments"],
        free=change.body.get("free", ""),
        by=change.by,
    )
