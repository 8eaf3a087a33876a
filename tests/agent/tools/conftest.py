from __future__ import annotations

from typing import Any

from bot import Tool, ToolResultEvent, tool
from bot.sandbox.model import ScriptedModel
from tests.agent.conftest import MakeAgent


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


async def result_of(
    make_agent: MakeAgent, model: ScriptedModel, used: Any, arguments: Any
) -> ToolResultEvent:
    """Let the model call one tool, and return what came of it."""
    agent = make_agent(tools=[used])
    name = used.name if isinstance(used, Tool) else used.__name__
    model.says(calls=[(name, arguments)]).then("done")
    result = await agent.run("go", session_id="s")
    [event] = [e for e in result.context.session.events if isinstance(e, ToolResultEvent)]
    return event
