"""A tool that posts an announcement, once a human has said yes."""

from __future__ import annotations

import discord

from bot.agent import ExecutionContext, Tool, tool
from bot.errors import ToolError
from bot.frontend.ids import place_of, user_of
from bot.frontend.markdown import LIMIT
from bot.frontend.outbox import Outbox
from bot.frontend.refusals import DiscordError, asked


def announce_tool(client: discord.Client) -> Tool:
    """Return the tool, which posts through this client.

    It reaches the text channels of the server in which it was asked for, and there only those in
    which both the bot and whoever asked may write.
    """

    @tool(approval=True)
    async def announce(channel: str, text: str, context: ExecutionContext) -> str:
        """Post an announcement to a channel of this server.

        Args:
            channel: The channel's name, with or without "#".
            text: What to post, at most 2,000 characters.
            context: Where this was asked for.
        """
        if not text.strip() or len(text) > LIMIT:
            raise ToolError(f"The text must have 1 to {LIMIT:,} characters.")
        guild = await _guild(client, context.session.session_id)
        target = _channel(guild, channel)
        await _check_permissions(guild, target, context.user_id or "")
        try:
            await Outbox(client).tell(target.id, text)
        except DiscordError as exc:
            raise ToolError(f"It could not be posted: {exc}.") from exc
        return f"Posted in #{target.name}."

    return announce


async def _guild(client: discord.Client, session_id: str) -> discord.Guild:
    place = place_of(session_id)
    if place is None:
        raise ToolError("Announcements can be made only from Discord.")
    channel = client.get_channel(place.channel_id)
    if channel is None:
        try:
            channel = await asked(lambda: client.fetch_channel(place.channel_id))
        except DiscordError as exc:
            raise ToolError(f"This place could not be looked up: {exc}.") from exc
    guild = getattr(channel, "guild", None)
    if not isinstance(guild, discord.Guild):
        raise ToolError("Announcements can be made only in a server.")
    return guild


def _channel(guild: discord.Guild, name: str) -> discord.TextChannel:
    wanted = name.strip().removeprefix("#").casefold()
    for channel in guild.text_channels:
        if channel.name.casefold() == wanted:
            return channel
    raise ToolError(f"There is no text channel {name!r} in this server.")


async def _check_permissions(
    guild: discord.Guild, channel: discord.TextChannel, user_id: str
) -> None:
    """Refuse what the bot, or whoever asked, may not do by hand.

    Members are fetched: without a privileged intent the client knows none.
    """
    user = user_of(user_id)
    if user is None:
        raise ToolError("It is not known who asked for this.")
    try:
        member = await asked(lambda: guild.fetch_member(user))
    except DiscordError as exc:
        raise ToolError(f"Who asked for this is not a member here: {exc}.") from exc
    for who, person in (("Who asked", member), ("The bot", guild.me)):
        granted = channel.permissions_for(person)
        if not (granted.view_channel and granted.send_messages):
            raise ToolError(f"{who} may not write in #{channel.name}.")
