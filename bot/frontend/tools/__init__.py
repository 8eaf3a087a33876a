"""Tools that need Discord; all but those that only read ask before they act."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

import discord

from bot.agent import Tool
from bot.agent.tools.memory import remember_tool
from bot.events import utc_now
from bot.frontend.own.remembering import MemoryRules
from bot.frontend.rights.permissions import Reach
from bot.frontend.schedules.scheduling import Scheduling
from bot.frontend.stores import Stores
from bot.frontend.tools.announce import announce_tool
from bot.frontend.tools.events import create_event_tool
from bot.frontend.tools.pinning import pin_message_tool
from bot.frontend.tools.posting import make_poll_tool, post_message_tool
from bot.frontend.tools.reading import reading_tools
from bot.frontend.tools.schedule import schedule_tool
from bot.frontend.tools.threads import start_thread_tool
from bot.frontend.tools.time_out import time_out_member_tool

__all__ = ["discord_tools", "stored_tools"]


def discord_tools(client: discord.Client) -> Mapping[str, Tool]:
    """Return the tools by their names; they work through this client."""
    reach = Reach(client)
    tools = (
        *reading_tools(reach),
        announce_tool(reach),
        create_event_tool(reach),
        make_poll_tool(reach),
        pin_message_tool(reach),
        post_message_tool(reach),
        start_thread_tool(reach),
        time_out_member_tool(reach),
    )
    return {tool.name: tool for tool in tools}


def stored_tools(stores: Stores, clock: Callable[[], datetime] = utc_now) -> Mapping[str, Tool]:
    """Return the tools that work on what is kept for people, by their names."""
    rules = MemoryRules(stores.consents, stores.homes)
    tools = (
        remember_tool(stores.memories, rules.allowed),
        schedule_tool(Scheduling(schedules=stores.schedules, homes=stores.homes, clock=clock)),
    )
    return {tool.name: tool for tool in tools}
