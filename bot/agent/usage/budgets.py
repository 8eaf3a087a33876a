"""Budgets: how many tokens a person and a server have, and what of them is left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.sessions.stores.periods import Period, Span
from bot.sessions.stores.usage import Sums, UsageStore


class Whose(StrEnum):
    """Whom a budget is for."""

    PERSON = "person"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many tokens may be used in a day and in a month; 0 is as many as one likes."""

    day: int = 0
    month: int = 0

    def of(self, span: Span) -> int:
        """Return the limit of a span."""
        return self.day if span is Span.DAY else self.month


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """All budgets.

    Attributes:
        person: Of everyone who has no role with another.
        server: Of all people in a server together.
        roles_day: Tokens a day by role; of several roles the one that gives most counts.
        roles_month: The same for a month.
    """

    person: Limits = Limits()
    server: Limits = Limits()
    roles_day: Mapping[str, int] = field(default_factory=dict)
    roles_month: Mapping[str, int] = field(default_factory=dict)

    @property
    def go_by_roles(self) -> bool:
        """Whether somebody's roles matter."""
        return bool(self.roles_day or self.roles_month)

    @property
    def limit_nobody(self) -> bool:
        """Whether there are none."""
        return not (any(self._limits()) or self.go_by_roles)

    def of_person(self, roles: AbstractSet[str]) -> Limits:
        """Return what somebody with these roles has."""
        return Limits(
            _most(self.roles_day, roles, self.person.day),
            _most(self.roles_month, roles, self.person.month),
        )

    def _limits(self) -> Iterator[int]:
        for limits in (self.person, self.server):
            yield from (limits.day, limits.month)


def _most(by_role: Mapping[str, int], roles: AbstractSet[str], other: int) -> int:
    found = [by_role[role] for role in roles if role in by_role]
    return other if not found else 0 if 0 in found else max(found)


@dataclass(frozen=True, slots=True)
class Standing:
    """What was used of a budget.

    Attributes:
        limit: In tokens, 0 for none.
    """

    whose: Whose
    span: Span
    period: Period
    limit: int
    used: Sums

    @property
    def left(self) -> int | None:
        """How many tokens are left, `None` where there is no limit."""
        return max(0, self.limit - self.used.tokens) if self.limit else None


def used_up(standing: Standing, when: Callable[[datetime], str]) -> str:
    """Return the sentence for somebody who has to wait."""
    whose = "Your" if standing.whose is Whose.PERSON else "This server's"
    span = "today" if standing.span is Span.DAY else "this month"
    renews = when(standing.period.renews)
    return (
        f"{whose} {standing.limit:,} tokens for {span} are used up, so I do not answer now; "
        f"nothing went wrong. They renew {renews}."
    )


ServerLimits = Callable[[int], Awaitable[Limits]]
"""What a server has, where servers can have less than the budgets say."""


class Ledger:
    """Knows where people and servers stand.

    Args:
        usage: What was used.
        budgets: What people and servers have.
        server_limits: What single servers have instead.
    """

    def __init__(
        self, usage: UsageStore, budgets: Budgets, server_limits: ServerLimits | None = None
    ) -> None:
        self.budgets = budgets
        self._usage = usage
        self._server_limits = server_limits

    async def limits_of(self, server_id: int | None) -> Limits:
        """Return what all people of a server have together."""
        if server_id is None:
            return Limits()
        if self._server_limits is None:
            return self.budgets.server
        return await self._server_limits(server_id)

    async def of_person(
        self, user_id: str, roles: AbstractSet[str], span: Span, now: datetime
    ) -> Standing:
        """Return what somebody used in the day or month of a moment, wherever it was."""
        period = Period.around(span, now)
        used = await self._usage.of_user(user_id, period)
        return Standing(Whose.PERSON, span, period, self.budgets.of_person(roles).of(span), used)

    async def of_server(self, server_id: int, span: Span, now: datetime) -> Standing:
        """Return what was used in a server in the day or month of a moment."""
        period = Period.around(span, now)
        used = await self._usage.of_server(server_id, period)
        limits = await self.limits_of(server_id)
        return Standing(Whose.SERVER, span, period, limits.of(span), used)

    async def exhausted(
        self, user_id: str, roles: AbstractSet[str], server_id: int | None, now: datetime
    ) -> Standing | None:
        """Return the budget that keeps somebody from asking, of several the last to renew."""
        spans = (Span.MONTH, Span.DAY)
        limits = self.budgets.of_person(roles)
        together = await self.limits_of(server_id)
        for span in spans:
            if user_id and limits.of(span):
                standing = await self.of_person(user_id, roles, span, now)
                if standing.left == 0:
                    return standing
            if server_id is not None and together.of(span):
                standing = await self.of_server(server_id, span, now)
                if standing.left == 0:
                    return standing
        return None
