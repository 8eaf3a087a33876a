"""The meter that keeps usage in a store, and goes by budgets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from bot.agent.approvals import Actor
from bot.agent.usage.budgets import Budgets, Ledger, Limits, ServerLimits, used_up
from bot.agent.usage.meter import Call
from bot.errors import BudgetUsedUpError
from bot.events import Usage, utc_now
from bot.sessions.stores.homes import HomeStore
from bot.sessions.stores.usage import UsageStore, Used

ActorOf = Callable[[str, int | None], Awaitable[Actor]]
"""Who somebody is in a server; in none, so without roles, where that is `None`."""


async def anyone(user_id: str, server_id: int | None) -> Actor:
    """Know nothing of people."""
    return Actor(user_id=user_id)


def in_utc(moment: datetime) -> str:
    """Return a moment as a terminal shows it."""
    return f"at {moment:%Y-%m-%d %H:%M} UTC"


class StoredMeter:
    """Keeps every call, and lets one begin while the budgets of who asks last.

    Calls that run at the same moment do not see each other: a budget can be overdrawn by what
    they use. The owner has none.

    Args:
        usage: Where calls are kept.
        homes: In which server each session is.
        budgets: By default none.
        server_limits: What single servers have, if not what the budgets say.
        actor_of: Who somebody is in a server.
        when: How a moment is written for people.
        clock: Tells the time by which budgets renew.
    """

    def __init__(
        self,
        *,
        usage: UsageStore,
        homes: HomeStore,
        budgets: Budgets | None = None,
        server_limits: ServerLimits | None = None,
        actor_of: ActorOf = anyone,
        when: Callable[[datetime], str] = in_utc,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._usage = usage
        self._homes = homes
        self._ledger = Ledger(usage, budgets or Budgets(), server_limits)
        self._actor_of = actor_of
        self._when = when
        self._clock = clock

    async def admit(self, session_id: str, user_id: str) -> None:
        """Let a call begin, or not.

        Raises:
            BudgetUsedUpError: if a budget is used up.
        """
        budgets = self._ledger.budgets
        server = await self._server_of(session_id)
        if budgets.limit_nobody and await self._ledger.limits_of(server) == Limits():
            return
        actor = await self._actor_of(user_id, server if budgets.go_by_roles else None)
        if actor.owner:
            return
        found = await self._ledger.exhausted(user_id, actor.roles, server, self._clock())
        if found is not None:
            raise BudgetUsedUpError(used_up(found, self._when))

    async def note(self, call: Call, usage: Usage) -> None:
        """Keep what a call used."""
        await self._usage.add(
            Used(
                turn_id=call.turn_id,
                call=call.number,
                at=self._clock(),
                purpose=call.purpose,
                user_id=call.user_id or None,
                server_id=await self._server_of(call.session_id),
                session_id=call.session_id,
                model=call.model,
                usage=usage,
            )
        )

    async def _server_of(self, session_id: str) -> int | None:
        home = await self._homes.of(session_id)
        return home.server_id if home else None
