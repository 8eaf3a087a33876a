"""What somebody used, and what was used in a server, as they are told it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import discord

from bot.agent import Actor
from bot.agent.usage.budgets import Budgets, Ledger, ServerLimits, Standing, Whose
from bot.frontend.ids import user_of
from bot.frontend.people import People
from bot.frontend.rendering.markdown import render
from bot.frontend.text import plain, relative_time
from bot.sessions.stores.periods import Period, Span
from bot.sessions.stores.usage import Sums, UsageStore
from bot.sessions.stores.usage_csv import SUMS, csv_of, sums_row

TOP = 10
"""People who are named in a message; all are in a file."""
NAME = 24
"""Characters of a name that a table has room for."""
UNTOLD = "The model service told no tokens of {} of these calls; they count nothing."
_SPANS = {Span.DAY: "Today", Span.MONTH: "This month"}


@dataclass(frozen=True, slots=True)
class Told:
    """What is said, and, where that is not all, the whole of it as CSV."""

    text: str
    csv: str = ""


class UsageDesk:
    """Tells people what was used."""

    def __init__(
        self,
        *,
        usage: UsageStore,
        budgets: Budgets,
        people: People,
        server_limits: ServerLimits | None = None,
    ) -> None:
        self._usage = usage
        self._ledger = Ledger(usage, budgets, server_limits)
        self._people = people

    async def own(self, actor: Actor, now: datetime) -> Told:
        """Tell somebody what they used, and what is left."""
        of = [await self._ledger.of_person(actor.user_id, actor.roles, span, now) for span in Span]
        return Told("\n".join(_standings(of, limited=not actor.owner)))

    async def by_person(self, guild: discord.Guild, now: datetime) -> Told:
        """Tell what each person used in a server this month; of many the first."""
        period = Period.around(Span.MONTH, now)
        found = await self._usage.server_by_user(guild.id, period)
        named = [each for each in found if each[0]][:TOP]
        numbers = [user_of(user_id) or 0 for user_id, _ in named]
        names = await self._people.names(guild, numbers)
        rows = [(plain(name, NAME), sums) for name, (_, sums) in zip(names, named, strict=True)]
        rest = [each for each in found if each not in named]
        if rest:
            rows.append((f"{len(rest)} others", sum((sums for _, sums in rest), Sums())))
        csv = _csv("user", found) if rest else ""
        return Told(await self._server(guild, now, "person", rows), csv)

    async def by_day(self, guild: discord.Guild, now: datetime) -> Told:
        """Tell what was used in a server on each day of this month."""
        rows = await self._usage.server_by_day(guild.id, Period.around(Span.MONTH, now))
        return Told(await self._server(guild, now, "day", rows))

    async def _server(
        self, guild: discord.Guild, now: datetime, what: str, rows: Sequence[tuple[str, Sums]]
    ) -> str:
        of = [await self._ledger.of_server(guild.id, span, now) for span in Span]
        lines = [*_standings(of), *(["", _table(what, rows)] if rows else [])]
        return "\n".join(lines)


def _standings(standings: Sequence[Standing], *, limited: bool = True) -> Iterator[str]:
    for standing in standings:
        yield _standing(standing, limited=limited)
    untold = max(standing.used.untold for standing in standings)
    if untold:
        yield f"-# {UNTOLD.format(f'{untold:,}')}"


def _standing(standing: Standing, *, limited: bool) -> str:
    span, used = _SPANS[standing.span], standing.used
    where = " in this server" if standing.whose is Whose.SERVER else ""
    calls = "call" if used.calls == 1 else "calls"
    told = f"**{span}**{where}: {used.tokens:,} tokens in {used.calls:,} {calls}"
    if not limited or standing.left is None:
        return f"{told}; no limit."
    renews = relative_time(standing.period.renews)
    return f"{told}; {standing.left:,} of {standing.limit:,} are left, renewed {renews}."


def _table(what: str, rows: Sequence[tuple[str, Sums]]) -> str:
    lines = [f"| {what} | tokens | calls |", "|---|---:|---:|"]
    lines += [f"| {key} | {sums.tokens:,} | {sums.calls:,} |" for key, sums in rows]
    return "\n".join(render("\n".join(lines)).messages)


def _csv(what: str, found: Sequence[tuple[str, Sums]]) -> str:
    return csv_of([(what, *SUMS), *(sums_row(key, sums) for key, sums in found)])
