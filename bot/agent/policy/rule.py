"""What is said of a tool: rules, an operator's and a manager's, and standing yeses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from bot.agent.approvers import Approvers
from bot.agent.arguments import arguments_hash


class Mode(StrEnum):
    """What a call of a tool needs; in the order of strictness."""

    FREE = "free"
    OWN = "own"  # as the tool itself says
    ASK = "ask"
    NEVER = "never"

    @property
    def strictness(self) -> int:
        """Larger where less may run."""
        return list(Mode).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What one source says of a tool; what is `None` it leaves to those before it."""

    mode: Mode | None = None
    approvers: Approvers | None = None
    expires_in: timedelta | None = None

    def over(self, lower: Rule) -> Rule:
        """Return this rule, with what it leaves open as `lower` has it."""
        mine, theirs = self.approvers, lower.approvers
        return Rule(
            mode=self.mode or lower.mode,
            approvers=mine.over(theirs) if mine and theirs else mine or theirs,
            expires_in=self.expires_in or lower.expires_in,
        )


NOTHING = Rule()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A standing yes: to a tool with exactly these arguments, where `free` may be anything.

    Attributes:
        grant_id: By which it is revoked.
        scope: Where it holds.
        free: The one argument that may be anything; empty: none.
        by: Who gave it.
    """

    grant_id: str
    scope: str
    tool: str
    arguments: Mapping[str, Any]
    free: str = ""
    by: str = ""

    def covers(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether a call is the one that was granted."""
        if tool != self.tool or self.arguments.keys() != arguments.keys():
            return False
        return self._hash(self.arguments) == self._hash(arguments)

    def _hash(self, arguments: Mapping[str, Any]) -> str:
        fixed = {name: value for name, value in arguments.items() if name != self.free}
        return arguments_hash(self.tool, fixed)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRule:
    """What the operator says of a tool.

    Attributes:
        rule: The rule.
        managers: The freest mode that managers of a server may set; `None`: none freer.
    """

    rule: Rule = NOTHING
    managers: Mode | None = None

    def over(self, lower: OperatorRule) -> OperatorRule:
        """Return this, with what it leaves open as `lower` has it."""
        return OperatorRule(
            rule=self.rule.over(lower.rule), managers=self.managers or lower.managers
        )


UNSAID = OperatorRule()
