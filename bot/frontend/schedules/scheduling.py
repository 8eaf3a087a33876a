"""Making, showing and ending schedules, for whoever wants something said later."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.errors import NoRoomError
from bot.events import new_id
from bot.frontend.ids import place_of
from bot.frontend.schedules.when import WhenError, read_when
from bot.frontend.text import plain
from bot.sessions.stores.homes import Home, HomeStore
from bot.sessions.stores.recurrence import Once, Rule, next_due
from bot.sessions.stores.schedules import Schedule, ScheduleStore

PAGE = 10
SHOWN = 60  # characters of each text in a list
LONGEST = 1500
"""Characters of a text."""
NONE = "You have no reminders. `/remind` makes one."
NOT_THERE = "You have no such reminder."
CANCELLED = "Cancelled."


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduling:
    """Does what people and the agent ask for.

    Attributes:
        homes: Where it is noted in which server a session is, that may not have begun.
        clock: Tells what time it is.
    """

    schedules: ScheduleStore
    homes: HomeStore
    clock: Callable[[], datetime]

    async def add(
        self, user_id: str, session_id: str, rule: Rule, text: str, *, asks: bool, key: str = ""
    ) -> Schedule:
        """Keep a schedule in its owner's time zone; with the same key it is kept once.

        Raises:
            NoRoomError: if they have as many as one may.
            WhenError: if it is never due.
        """
        zone = await self.schedules.zone(user_id)
        due = next_due(rule, ZoneInfo(zone), self.clock())
        if due is None:
            raise WhenError("That time is over.")
        digest = hashlib.sha256(key.encode()).hexdigest()[:16]
        schedule = Schedule(
            schedule_id=f"schedule-{digest}" if key else new_id("schedule"),
            user_id=user_id,
            session_id=session_id,
            rule=rule,
            zone=zone,
            text=text,
            asks=asks,
            due_at=due,
        )
        await self.schedules.add(schedule)
        return schedule

    async def remind(
        self,
        user_id: str,
        session_id: str,
        when: str,
        text: str,
        *,
        asks: bool,
        home: Home | None = None,
    ) -> str:
        """Keep what somebody wants to be reminded of; return what to say."""
        if home is not None:
            await self.homes.put(session_id, home)
        try:
            zone = ZoneInfo(await self.schedules.zone(user_id))
            rule = read_when(when, zone, self.clock())
            made = await self.add(user_id, session_id, rule, text, asks=asks)
        except (WhenError, NoRoomError) as exc:
            return str(exc)
        at = int(made.due_at.timestamp())
        what = "I will work on it" if asks else "I will remind you"
        again = "" if isinstance(rule, Once) else f", and then {rule}"
        zoned = f"times are in {made.zone}; `/timezone` changes yours"
        return f"{what} <t:{at}:F> (<t:{at}:R>){again}.\n-# `/reminders` cancels it; {zoned}."

    async def shown(self, user_id: str, page: int) -> str:
        """Show one page of somebody's schedules."""
        kept = await self.schedules.of(user_id)
        if not kept:
            return NONE
        pages = -(-len(kept) // PAGE)
        page = min(page, pages)
        lines = map(_line, kept[(page - 1) * PAGE : page * PAGE])
        return "\n".join([*lines, f"-# Page {page} of {pages}. `/reminders cancel:` ends one."])

    async def of(self, user_id: str) -> Sequence[Schedule]:
        """Return somebody's schedules."""
        return await self.schedules.of(user_id)

    async def cancel(self, user_id: str, name: str) -> str:
        """End one of somebody's schedules; return nothing if they have none of that name."""
        return CANCELLED if await self.schedules.cancel(user_id, name) else ""

    async def zone(self, user_id: str, name: str | None) -> str:
        """Show or set somebody's time zone."""
        if name is None:
            return f"Your time zone is {await self.schedules.zone(user_id)}."
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return f"There is no time zone {plain(name, 60)}; one is Europe/Paris, for example."
        await self.schedules.set_zone(user_id, name)
        return f"Your time zone is {name} now; reminders that there are stay as they are."


def _line(schedule: Schedule) -> str:
    place = place_of(schedule.session_id)
    where = f"<#{place.channel_id}>" if place else "elsewhere"
    what = "asks me" if schedule.asks else "says"
    at = int(schedule.due_at.timestamp())
    again = "" if isinstance(schedule.rule, Once) else f", {schedule.rule} ({schedule.zone})"
    return f"- <t:{at}:f>{again}, in {where}, {what}: {plain(schedule.text, SHOWN)}"
