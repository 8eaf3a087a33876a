"""What every run of an agent uses, gathered once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from bot.agent.context import ExecutionContext
from bot.agent.history.attachments import Attachments
from bot.agent.model.capacity import Capacity
from bot.agent.model.models import Models
from bot.agent.model.service import Model
from bot.agent.policy.policy import FixedPolicy, Policy
from bot.agent.profiles import OneProfile, Profiles
from bot.agent.tools.tool import LateToolSource, Tool, ToolSource
from bot.agent.usage.meter import Meter
from bot.events import UserMessageEvent
from bot.sessions import Session, SessionManager


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """An agent's model, tools and limits, as they are in general or in one session.

    Attributes:
        allowed: The names of the tools that may be used, `None` for all of them.
        extra: What a request for an answer says beside the conversation.
    """

    models: Models
    model: Model
    manager: SessionManager
    own_tools: Mapping[str, Tool]
    toolsets: Sequence[ToolSource] = ()
    system_prompt: Callable[[], str]
    approval_ttl: timedelta
    max_steps: int
    slots: asyncio.Semaphore
    capacity: Capacity
    attachments: Attachments
    meter: Meter
    policy: Policy = field(default_factory=FixedPolicy)
    profiles: Profiles = field(default_factory=OneProfile)
    allowed: frozenset[str] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    async def of(self, session_id: str) -> Parts:
        """Return what is used in a session from now on."""
        profile = await self.profiles.of(session_id)
        known, prompt = self.models.of(profile.model), profile.system_prompt
        return replace(
            self,
            model=known.model,
            capacity=known.capacity,
            system_prompt=self.system_prompt if prompt is None else lambda: prompt,
            allowed=profile.tools,
            extra=profile.extra,
        )

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools that there are now, by name."""
        found = dict(self.own_tools)
        for source in self.toolsets:
            found |= source.tools(found.keys())
        allowed = found.keys() if self.allowed is None else self.allowed
        return {name: tool for name, tool in found.items() if name in allowed}

    async def arrived(self, names: Iterable[str]) -> None:
        """Wait for those of these tools that may be late, as long as their sources take."""
        for name in names:
            if name not in self.tools:
                for source in self.toolsets:
                    if isinstance(source, LateToolSource):
                        await source.arrived(name)

    async def definitions(self) -> Sequence[dict[str, Any]]:
        """Return what the model is told of the tools; made once, away from the event loop.

        From then on arguments can be validated on it: what that needs is loaded too.
        """
        tools = self.tools.values()
        if not all(tool.is_defined for tool in tools):
            await asyncio.to_thread(lambda: [tool.definition for tool in tools])
        return [tool.definition for tool in tools]

    def context(
        self,
        session: Session,
        turn_id: str,
        call_id: str = "",
        on_progress: Callable[[str], None] = lambda text: None,
    ) -> ExecutionContext:
        """Return what a tool is given in this turn."""
        return ExecutionContext(
            session=session,
            session_manager=self.manager,
            user_id=asker(session, turn_id),
            turn_id=turn_id,
            call_id=call_id,
            on_progress=on_progress,
        )


def asker(session: Session, turn_id: str) -> str:
    """Return whose message a turn answers, as far as it is known."""
    for event in session.turn(turn_id):
        if isinstance(event, UserMessageEvent) and event.author:
            return event.author.user_id
    return session.user_id or ""
