"""A tool that pins a message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import discord

from bot.agent import ExecutionContext, Tool, tool
from bot.errors import ToolError
from bot.frontend.rights.permissions import READ, Reach
from bot.frontend.rights.places import HERE, place_worded
from bot.frontend.rights.requests import done
from bot.frontend.tools.messages import message_called, message_worded
from bot.frontend.tools.reasons import reason_of

PIN = (*READ, "pin_messages")


def pin_message_tool(reach: Reach) -> Tool:
    """Return the tool; a message that is pinned already stays so."""

    async def may_pin(arguments: Mapping[str, Any], context: ExecutionContext) -> None:
        await target(arguments["message"], arguments["channel"], context)

    async def target(message: str, channel: str, context: ExecutionContext) -> discord.Message:
        place = await reach.place(context, channel, PIN)
        found = await message_called(place, message)
        if found.is_system():
            raise ToolError("What Discord itself said cannot be pinned.")
        return found

    @tool(
        approval=True,
        idempotent=True,
        check=may_pin,
        sentence=lambda arguments: (
            f"Pin {message_worded(arguments['message'])} in {place_worded(arguments['channel'])}."
        ),
    )
    async def pin_message(message: str, context: ExecutionContext, channel: str = HERE) -> str:
        """Pin a message in a channel or thread of this server.

        Args:
            message: Its id, or a link to it.
            channel: The name, mention or id of where it is; "here" is where you are asked.
            context: Where this was asked for.
        """
        found = await target(message, channel, context)
        await done(lambda: found.pin(reason=reason_of(context)))
        return "Pinned."

    return pin_message
