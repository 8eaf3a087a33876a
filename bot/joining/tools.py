"""The tools that are set up, and the operator's policy of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.agent import Tool
from bot.agent.policy.file import PolicyFile, parse_policy
from bot.config import SHIPPED, Settings
from bot.errors import ConfigError
from bot.tools import current_time, fetch_page, own_tools, roll_dice

TOOLS = {tool.name: tool for tool in (current_time, roll_dice, fetch_page)}
"""The tools that need no Discord."""

OWN = frozenset({"remember", "schedule"})
"""The tools that work on what is kept for whoever asks, and in Discord alone."""

OF_DISCORD = SHIPPED - TOOLS.keys()
"""The tools that come with it and need one."""


def chosen_tools(settings: Settings, shipped: Mapping[str, Tool]) -> list[Tool]:
    """Return the tools that are set up; shipped ones that need a Discord only where they have it.

    Raises:
        ConfigError: if one of the operator's own cannot be used, or two have the same name.
    """
    chosen: dict[str, Tool] = {}
    for name in settings.tools:
        found = [shipped[name]] if name in shipped else [] if name in SHIPPED else own_tools(name)
        for each in found:
            if each.name in chosen:
                raise ConfigError(f"TOOLS: {name} has a tool {each.name!r}, and so has another.")
            chosen[each.name] = each
    return list(chosen.values())


def read_policy(settings: Settings, tools: Sequence[Tool]) -> PolicyFile:
    """Return the operator's policy.

    Raises:
        ConfigError: naming all that is wrong with the file.
    """
    if settings.policy_file is None:
        return PolicyFile()
    text = settings.policy_file.read_text(encoding="utf-8")
    known = SHIPPED | {tool.name for tool in tools}  # those of servers are not known yet
    return parse_policy(text, name="POLICY_FILE", known=None if settings.mcp_servers else known)
