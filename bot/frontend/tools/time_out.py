"""A tool that times a member out: for a while they can only look on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any

import discord
from pydantic import Field, StringConstraints

from bot.agent import ExecutionContext, Tool, tool
from bot.errors import ToolError
from bot.frontend.rights.permissions import Reach
from bot.frontend.rights.requests import done, found
from bot.frontend.rights.standing import Standing
from bot.frontend.text import plain
from bot.frontend.tools.posting import counted
from bot.frontend.tools.reasons import reason_of

MODERATE = ("moderate_members",)
Minutes = Annotated[int, Field(ge=1, le=28 * 24 * 60)]
Reason = Annotated[str, StringConstraints(max_length=400)]
# Names are not unique, and everybody chooses theirs: members go by id alone.
_MEMBER = re.compile(r"(?:user-|<@!?)?(?P<id>[0-9]{15,20})>?")


def time_out_member_tool(reach: Reach) -> Tool:
    """Return the tool."""

    async def may_time_out(arguments: Mapping[str, Any], context: ExecutionContext) -> None:
        await target(arguments["member"], context)

    async def target(wanted: str, context: ExecutionContext) -> discord.Member:
        standing = await reach.server(context, MODERATE)
        member = await _member(standing.guild, wanted)
        _refuse(standing, member)
        return member

    @tool(approval=True, check=may_time_out, sentence=_sentence)
    async def time_out_member(
        member: str, minutes: Minutes, context: ExecutionContext, reason: Reason = ""
    ) -> str:
        """Time a member of this server out, so that they can only look on for a while.

        Args:
            member: Their id or mention; names are not taken.
            minutes: For how long, at most 28 days.
            reason: Why, for the server's audit log.
            context: Where this was asked for.
        """
        whom = await target(member, context)
        until = timedelta(minutes=minutes)
        await done(lambda: whom.timeout(until, reason=reason_of(context, reason)))
        return f"They are timed out for {counted(minutes, 'minute')}."

    return time_out_member


async def _member(guild: discord.Guild, wanted: str) -> discord.Member:
    match = _MEMBER.fullmatch(wanted.strip())
    if match is None:
        raise ToolError("Say who by their id or mention, not by a name.")
    member = await found(lambda: guild.fetch_member(int(match["id"])))
    if member is None:
        raise ToolError("There is no such member in this server.")
    return member


def _refuse(standing: Standing, member: discord.Member) -> None:
    """Refuse what the hierarchy of a server does not allow.

    Raises:
        ToolError: saying why.
    """
    if member.id in (standing.requester.id, standing.bot.id):
        raise ToolError("Neither who asked nor the bot can be timed out this way.")
    if member.guild_permissions.administrator:  # as its owner has, too
        raise ToolError("Who owns or administers the server cannot be timed out.")
    for who, above in standing.both:
        owns = above.id == standing.guild.owner_id
        if not owns and member.top_role >= above.top_role:
            raise ToolError(f"{who} does not stand above this member: a role is as high or higher.")


def _sentence(arguments: Mapping[str, Any]) -> str:
    match = _MEMBER.fullmatch(arguments["member"].strip())
    whom = f"<@{match['id']}>" if match else plain(arguments["member"], 100)
    return f"Time out {whom} for {counted(arguments['minutes'], 'minute')}."
