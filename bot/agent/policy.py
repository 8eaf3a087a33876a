"""Policy: which tools run freely, which ask and whom, and which are off; in one place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from bot.agent.arguments import arguments_hash
from bot.events import ApprovalRequestedEvent

if TYPE_CHECKING:
    from bot.agent.approvals import Actor
    from bot.agent.tools import Tool
    from bot.sessions import Session

_WORD = re.compile(r"requester|moderator|owner|(?:role|user):[1-9][0-9]{0,19}")
TWO_PERSON = "two_person"


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


@dataclass(frozen=True, slots=True)
class Approvers:
    """Who may approve; owners of the bot always may, unless it takes two people.

    Attributes:
        words: ``requester``, ``moderator``, ``owner``, ``role:ID``, ``user:ID``; none of them:
            whoever may approve anyway.
        two_person: Whether it has to be somebody else than who asked.
    """

    words: frozenset[str] = frozenset()
    two_person: bool = False

    @classmethod
    def of(cls, words: str | Iterable[str]) -> Approvers:
        """Return the approvers that are told in words, ``two_person`` among them.

        Raises:
            ValueError: naming a word that says nothing.
        """
        given = words.replace(",", " ").split() if isinstance(words, str) else list(words)
        names = frozenset(each for each in given if each != TWO_PERSON)
        for name in sorted(names):
            if not _WORD.fullmatch(name):
                raise ValueError(
                    f"approvers are requester, moderator, owner, role:ID, user:ID or {TWO_PERSON}, "
                    f"not {name[:40]!r}"
                )
        return cls(names, two_person=TWO_PERSON in given)

    def over(self, lower: Approvers) -> Approvers:
        """Return these where `lower` said something else; two people stay two."""
        return Approvers(self.words or lower.words, self.two_person or lower.two_person)

    def names(self, requested_by: str, actor: Actor) -> bool:
        """Whether somebody is one of those who are named."""
        return (
            actor.owner
            or ("moderator" in self.words and actor.moderator)
            or ("requester" in self.words and actor.user_id == requested_by)
            or f"user:{actor.user_id.removeprefix('user-')}" in self.words
            or any(f"role:{role}" in self.words for role in actor.roles)
        )

    def __str__(self) -> str:
        return ", ".join([*sorted(self.words), *([TWO_PERSON] if self.two_person else [])])


ANYONE = Approvers()


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


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one place at one moment: read before something is recorded, then only asked.

    Attributes:
        by_tool: What operator and managers say of tools.
        grants: The standing yeses that hold here.
    """

    by_tool: Mapping[str, Rule] = field(default_factory=dict)
    grants: Sequence[Grant] = ()

    def of(self, tool: Tool) -> Rule:
        """Return the whole rule of a tool: its own word counts least."""
        own = Rule(mode=Mode.OWN, approvers=tool.approvers)
        return self.by_tool.get(tool.name, NOTHING).over(own)

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
    ) -> str:
        """Return why somebody may not decide a request; nothing if they may.

        Args:
            tool: The tool, if it is still there.
            request: What is asked.
            actor: Who would decide.
            otherwise: Whether they may where no rule names anybody.
        """
        approvers = (self.of(tool).approvers if tool else None) or ANYONE
        if approvers.two_person and actor.user_id == request.requested_by:
            return "You may not decide this request: it takes somebody else than who asked."
        if not approvers.words:
            return "" if otherwise else "You may not decide this request."
        if approvers.names(request.requested_by, actor):
            return ""
        words = ", ".join(sorted(approvers.words))
        return f"You may not decide this request. Who may: {words}."


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
