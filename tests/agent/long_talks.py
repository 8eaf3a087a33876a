"""Long conversations: a service with a small window, and what was asked of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bot import Agent, InMemorySessionManager, Provider, SessionManager
from bot.providers import RetryPolicy
from bot.sandbox.model import Answer, ModelServer, ScriptedModel, serve_model
from bot.sandbox.model.conversation import Conversation
from bot.sandbox.model.demo import answer_to
from bot.sandbox.model.replies import tokens_in

Request = dict[str, Any]


def understood(request: Mapping[str, Any]) -> Answer:
    """Answer from what the request says, and from nothing else."""
    return answer_to(Conversation(request))


def summarises(request: Mapping[str, Any]) -> bool:
    """Return whether a request asks for a summary: its first message says so."""
    return Conversation({"messages": request["messages"][:1]}).summarises


def compacts(before: Request, after: Request) -> bool:
    """Return whether a request begins with other bytes than the one before it."""
    told = before["messages"]
    return json.dumps(after["messages"][: len(told)]) != json.dumps(told)


@dataclass
class Talk:
    """An agent and a service that reads `window` tokens, between them real HTTP.

    Attributes:
        model: What answers, by default from what it is told.
    """

    agent: Agent
    manager: SessionManager
    model: ScriptedModel
    server: ModelServer
    options: Mapping[str, Any] = field(default_factory=dict)

    async def says(self, text: str, session_id: str = "s") -> str:
        """Say something; return the answer."""
        return (await self.agent.run(text, session_id=session_id)).output

    @property
    def chats(self) -> list[Request]:
        """The requests for answers."""
        return [each for each in self.model.requests if not summarises(each)]

    @property
    def summaries(self) -> list[Request]:
        """The requests for summaries."""
        return [each for each in self.model.requests if summarises(each)]

    @property
    def largest(self) -> int:
        """Tokens of the largest request."""
        return max(tokens_in(each) for each in self.model.requests)


@asynccontextmanager
async def talking(
    *,
    window: int = 2_000,
    tells_window: bool = True,
    manager: SessionManager | None = None,
    model: ScriptedModel | None = None,
    **options: Any,
) -> AsyncIterator[Talk]:
    """Open an agent with such a service."""
    behaviour = model or ScriptedModel().answers(understood)
    async with serve_model(behaviour, window=window, tells_window=tells_window) as server:
        kept = manager or InMemorySessionManager()
        agent = agent_at(server, kept, **options)
        try:
            yield Talk(agent, kept, behaviour, server, options)
        finally:
            await agent.close()


def agent_at(server: ModelServer, manager: SessionManager, **options: Any) -> Agent:
    """Make an agent of a running service."""
    provider = Provider(
        model="scripted",
        api_key="key",
        base_url=server.base_url,
        retry=RetryPolicy(max_attempts=1),
    )
    return Agent(provider=provider, session_manager=manager, **options)


def words(count: int, number: int = 0) -> str:
    """Return a message of so many words."""
    return " ".join(f"word{number}x{each}" for each in range(count))
