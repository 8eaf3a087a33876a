"""A tool that has something said later, where it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, StringConstraints

from bot.agent import Approvers, ExecutionContext, Tool, ToolOutput, tool
from bot.errors import NoRoomError, ToolError
from bot.events import Receipt
from bot.frontend.ids import place_of
from bot.frontend.schedules.scheduling import LONGEST, Scheduling
from bot.frontend.schedules.when import WhenError
from bot.frontend.text import plain
from bot.sessions.stores.recurrence import DAYS, Once, Recurring, Rule

Text = Annotated[str, StringConstraints(pattern=r"\S", max_length=LONGEST)]
Minutes = Annotated[int, Field(ge=0, le=366 * 24 * 60)]
DayOfMonth = Annotated[int, Field(ge=0, le=31)]
Weekday = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def schedule_tool(scheduling: Scheduling) -> Tool:
    """Return the tool; what comes again, or makes the agent work, waits for whose it is."""

    @tool(
        idempotent=True,
        approval=_comes_again_or_works,
        approvers=Approvers(requester=True, moderator=True, owner=True),
        sentence=_sentence,
    )
    async def schedule(
        text: Text,
        context: ExecutionContext,
        in_minutes: Minutes = 0,
        date: str = "",
        at: str = "",
        weekdays: list[Weekday] | None = None,
        day_of_month: DayOfMonth = 0,
        ask: bool = False,
    ) -> ToolOutput:
        """Have something said here later: once, or again and again.

        Times are by the clock of whoever asks; they set their zone with /timezone. Give in_minutes;
        or a date and a time for once; or only a time for every day, with weekdays or day_of_month
        for some of them.

        Args:
            text: What is said then; with ask, what you are to do then, understandable on its own.
            context: Who asks where.
            in_minutes: Once, so many minutes from now.
            date: Once, on this day, as YYYY-MM-DD.
            at: The time of the day, as HH:MM.
            weekdays: On these days of the week only.
            day_of_month: On this day of each month only; in a shorter month on its last.
            ask: Whether you are asked to do it then, rather than the text being posted.
        """
        user_id, session_id = context.user_id or "", context.session.session_id
        if place_of(session_id) is None:
            raise ToolError("This can be done only from Discord.")
        zone = ZoneInfo(await scheduling.schedules.zone(user_id))
        rule = _rule(scheduling.clock(), zone, in_minutes, date, at, weekdays or [], day_of_month)
        try:
            made = await scheduling.add(
                user_id, session_id, rule, text, asks=ask, key=context.call_id
            )
        except (WhenError, NoRoomError) as exc:
            raise ToolError(str(exc)) from exc
        first = f"{made.due_at.astimezone(zone):%A, %d %B %Y, %H:%M} {made.zone}"
        told = f"Scheduled {rule}, first {first}: {plain(text, 200)}"
        return ToolOutput(
            f"Scheduled {rule}; first due {first}.",
            receipt=Receipt(text=told, undo=made.schedule_id),
        )

    return schedule


def _comes_again_or_works(arguments: Mapping[str, Any]) -> bool:
    once = bool(arguments.get("in_minutes") or arguments.get("date"))
    return bool(arguments.get("ask")) or not once


def _sentence(arguments: Mapping[str, Any]) -> str:
    what = "Work on this" if arguments.get("ask") else "Say this here"
    if arguments.get("in_minutes"):
        return f"{what} in {arguments['in_minutes']} minutes."
    at = plain(str(arguments.get("at")), 20)
    if arguments.get("date"):
        return f"{what} on {plain(str(arguments['date']), 20)} at {at}."
    days = ", ".join(arguments.get("weekdays") or []) or "day"
    monthly = arguments.get("day_of_month")
    return (
        f"{what} on day {monthly} of every month at {at}."
        if monthly
        else (f"{what} every {days} at {at}.")
    )


def _rule(
    now: datetime,
    zone: ZoneInfo,
    in_minutes: int,
    date: str,
    at: str,
    weekdays: list[Weekday],
    day_of_month: int,
) -> Rule:
    """Return the rule that is meant.

    Raises:
        ToolError: if a date or a time is none.
    """
    if in_minutes:
        return Once(now + timedelta(minutes=in_minutes))
    try:
        when = time.fromisoformat(at).replace(second=0, microsecond=0, tzinfo=None)
        if not date:
            days = tuple(sorted({DAYS.index(each) for each in weekdays}))
            return Recurring(when, days, day_of_month)
        day = datetime.fromisoformat(date).date()
        return Once(datetime.combine(day, when, zone).astimezone(UTC))
    except (ValueError, OverflowError) as exc:
        raise ToolError(f"That is no time: {exc}. Give HH:MM, and a date as YYYY-MM-DD.") from exc
