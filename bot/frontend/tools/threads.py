"""A tool that starts a thread, on a message or on none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import discord
from pydantic import StringConstraints

from bot.agent import ExecutionContext, Tool, tool
from bot.errors import ToolError
from bot.frontend.refusals import DiscordError, asked
from bot.frontend.rights.permissions import READ, Reach
from bot.frontend.rights.places import HERE, place_worded
from bot.frontend.rights.requests import done
from bot.frontend.tools.messages import message_called
from bot.frontend.tools.reasons import reason_of

START = (*READ, "create_public_threads")
THREAD_EXISTS = 160004
Name = Annotated[str, StringConstraints(pattern=r"\S", max_length=100)]


def start_thread_tool(reach: Reach) -> Tool:
    """Return the tool."""

    async def may_start(arguments: Mapping[str, Any], context: ExecutionContext) -> None:
        await target(arguments["channel"], arguments["message"], context)

    async def target(
        channel: str, message: str, context: ExecutionContext
    ) -> tuple[discord.TextChannel, discord.Message | None]:
        place = await reach.place(context, channel, START)
        if not isinstance(place, discord.TextChannel):
            raise ToolError(f"Threads can be started only in text channels; #{place.name} is none.")
        return place, await message_called(place, message) if message else None

    @tool(
        approval=True,
        check=may_start,
        sentence=lambda arguments: f"Start a thread in {place_worded(arguments['channel'])}.",
    )
    async def start_thread(
        name: Name, context: ExecutionContext, channel: str = HERE, message: str = ""
    ) -> str:
        """Start a public thread in a text channel of this server.

        Args:
            name: What it is called, at most 100 characters.
            channel: The name, mention or id of the channel; "here" is where you are asked.
            message: The id of a message there, or a link to it, to start the thread on.
            context: Where this was asked for.
        """
        place, on = await target(channel, message, context)
        reason = reason_of(context)
        thread = await (_on(on, name, reason) if on else done(lambda: _in(place, name, reason)))
        return f"The thread is <#{thread.id}>."

    return start_thread


async def _on(message: discord.Message, name: str, reason: str) -> discord.abc.Snowflake:
    """Start the one thread that a message can have; an attempt before this may have done it."""
    had = message.flags.has_thread
    try:
        return await asked(lambda: message.create_thread(name=name, reason=reason))
    except DiscordError as exc:
        if exc.code == THREAD_EXISTS and not had:
            return discord.Object(message.id)  # a thread has its message's id
        raise ToolError(f"It could not be done: {exc}.") from exc


async def _in(channel: discord.TextChannel, name: str, reason: str) -> discord.Thread:
    kind = discord.ChannelType.news_thread if channel.is_news() else None
    public = kind or discord.ChannelType.public_thread
    return await channel.create_thread(name=name, type=public, reason=reason)
