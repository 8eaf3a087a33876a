"""What every run of an agent uses, gathered once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bot.agent.attachments import Attachments
from bot.agent.context import ExecutionContext
from bot.agent.model import Model
from bot.agent.policy import Policy
from bot.agent.tools import Tool
from bot.events import UserMessageEvent
from bot.sessions import Session, SessionManager


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """An agent's model, tools and limits."""

    model: Model
    manager: SessionManager
    tools: Mapping[str, Tool]
    system_prompt: Callable[[], str]
    approval_ttl: timedelta
    max_steps: int
    slots: asyncio.Semaphore
    attachments: Attachments
    policy: Policy

    async def definitions(self) -> Sequence[dict[str, Any]]:
        """Return what the model is told of the tools; made once, away from the event loop.

        From then on arguments can be validated on it: what that needs is loaded too.
        """
        tools = self.tools.values()
        if not all(tool.is_defined for tool in tools):
            await asyncio.to_thread(lambda: [tool.definition for tool in tools])
        return [tool.definition for tool in tools]

    def context(self, session: Session, turn_id: str, call_id: str = "") -> ExecutionContext:
        """Return what a tool is given in this turn."""
        return ExecutionContext(
            session=session,
            session_manager=self.manager,
            user_id=asker(session, turn_id),
            turn_id=turn_id,
            call_id=call_id,
        )


def asker(session: Session, turn_id: str) -> str:
    """Return whose message a turn answers, as far as it is known."""
    for event in session.turn(turn_id):
        if isinstance(event, UserMessageEvent) and event.author:
            return event.author.user_id
    return session.user_id or ""
