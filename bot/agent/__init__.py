"""The agent: what to do next, asked of the log."""

from bot.agent.agent import Agent
from bot.agent.approvals import Actor
from bot.agent.approvers import Approvers
from bot.agent.context import ExecutionContext
from bot.agent.inputs import UserMessage
from bot.agent.profiles import Profile, Profiles
from bot.agent.run import AgentResult, AgentRun
from bot.agent.tools.outputs import File, ToolOutput
from bot.agent.tools.tool import LateToolSource, Tool, ToolSource, tool

__all__ = [
    "Actor",
    "Agent",
    "AgentResult",
    "AgentRun",
    "Approvers",
    "ExecutionContext",
    "File",
    "LateToolSource",
    "Profile",
    "Profiles",
    "Tool",
    "ToolOutput",
    "ToolSource",
    "UserMessage",
    "tool",
]
