"""A tool that plans a scheduled event."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import discord
from pydantic import AwareDatetime, StringConstraints

from bot.agent import ExecutionContext, Tool, tool
from bot.errors import ToolError
from bot.frontend.rights.permissions import Reach
from bot.frontend.rights.requests import done
from bot.frontend.text import plain
from bot.frontend.tools.reasons import reason_of

PLAN = ("create_events",)
Line = Annotated[str, StringConstraints(pattern=r"\S", max_length=100)]
Details = Annotated[str, StringConstraints(max_length=1000)]


def create_event_tool(reach: Reach) -> Tool:
    """Return the tool."""

    async def may_plan(arguments: Mapping[str, Any], context: ExecutionContext) -> None:
        start, end = (datetime.fromisoformat(arguments[key]) for key in ("start", "end"))
        _refuse_times(start, end)
        await reach.server(context, PLAN)

    @tool(approval=True, check=may_plan, sentence=_sentence)
    async def create_event(
        name: Line,
        location: Line,
        start: AwareDatetime,
        end: AwareDatetime,
        context: ExecutionContext,
        description: Details = "",
    ) -> str:
        """Plan an event that this server shows to its members.

        Args:
            name: What it is called.
            location: Where it takes place.
            start: When it starts, with the offset from UTC: 2026-05-31T18:00:00+02:00.
            end: When it ends, written like the start.
            description: What else people should know.
            context: Where this was asked for.
        """
        _refuse_times(start, end)
        standing = await reach.server(context, PLAN)
        event = await done(
            lambda: standing.guild.create_scheduled_event(
                name=name,
                location=location,
                start_time=start,
                end_time=end,
                entity_type=discord.EntityType.external,
                privacy_level=discord.PrivacyLevel.guild_only,
                reason=reason_of(context),
                description=description if description.strip() else discord.utils.MISSING,
            )
        )
        return f"The event is planned: https://discord.com/events/{standing.guild.id}/{event.id}"

    return create_event


def _refuse_times(start: datetime, end: datetime) -> None:
    if start <= discord.utils.utcnow():
        raise ToolError("The event would start in the past. Look at what time it is now.")
    if end <= start:
        raise ToolError("The event would end before it starts.")


def _sentence(arguments: Mapping[str, Any]) -> str:
    start = datetime.fromisoformat(arguments["start"])
    return f"Plan the event {plain(arguments['name'], 100)} for <t:{int(start.timestamp())}:f>."
