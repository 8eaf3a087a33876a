"""A tool that posts an announcement, once a human has said yes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.agent import ExecutionContext, Tool, tool
from bot.frontend.rights.permissions import WRITE, Reach
from bot.frontend.rights.places import place_worded
from bot.frontend.tools.posting import Text, post


def announce_tool(reach: Reach) -> Tool:
    """Return the tool."""

    async def may_announce(arguments: Mapping[str, Any], context: ExecutionContext) -> None:
        await reach.place(context, arguments["channel"], WRITE)

    @tool(
        approval=True,
        check=may_announce,
        sentence=lambda arguments: f"Post an announcement in {place_worded(arguments['channel'])}.",
    )
    async def announce(channel: str, text: Text, context: ExecutionContext) -> str:
        """Post an announcement to a channel of this server.

        Args:
            channel: The channel's name, with or without "#"; or its mention or id.
            text: What to post, at most 2,000 characters.
            context: Where this was asked for.
        """
        place = await reach.place(context, channel, WRITE)
        await post(reach, place.id, context, text=text)
        return f"Posted in #{place.name}."

    return announce
