from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

import pytest

from bot import (
    Agent,
    AgentRun,
    DoneEvent,
    InMemorySessionManager,
    Provider,
    RecordedEvent,
    SessionManager,
    SQLiteSessionManager,
)
from bot.providers import RetryPolicy
from bot.sandbox.model import ScriptedModel, serve_model
from tests.sessions.third_party import DictManager, ObjectManager

MakeAgent = Callable[..., Agent]


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture(params=[InMemorySessionManager, SQLiteSessionManager, DictManager, ObjectManager])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> SessionManager:
    """Every kind of session manager: ours, and two of somebody else's."""
    if request.param is SQLiteSessionManager:
        return SQLiteSessionManager(tmp_path / "sessions.db")
    made: SessionManager = request.param()
    return made


@pytest.fixture
async def make_agent(model: ScriptedModel, manager: SessionManager) -> AsyncIterator[MakeAgent]:
    """Make agents of the scripted model over the same sessions; closed with the test."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serve_model(model))

        def made(**options: Any) -> Agent:
            provider = Provider(
                model="scripted",
                api_key="key",
                base_url=server.base_url,
                retry=RetryPolicy(first_delay=0.001, max_delay=0.01),
            )
            defaults: dict[str, Any] = {"provider": provider, "session_manager": manager}
            agent = Agent(**(defaults | options))
            stack.push_async_callback(agent.close)
            return agent

        yield made


@pytest.fixture
def agent(make_agent: MakeAgent) -> Agent:
    return make_agent()


async def begun(run: AgentRun) -> asyncio.Task[DoneEvent]:
    """Start a run; return, once its message or decision is recorded, the task that ends it."""
    events = aiter(run)
    await anext(events)

    async def ended() -> DoneEvent:
        async with aclosing(events):
            [*_, done] = [event async for event in events]
        assert isinstance(done, DoneEvent)
        return done

    return asyncio.create_task(ended())


async def events_of(
    manager: SessionManager, session_id: str, *kinds: type[RecordedEvent]
) -> list[RecordedEvent]:
    """Return what is stored of a session: all of its window, or the events of some kinds."""
    session = await manager.get(session_id)
    assert session is not None
    return [event for event in session.events if not kinds or isinstance(event, kinds)]


def roles(request: dict[str, Any]) -> str:
    """Return a request's history in short: `u,a,t` for a user's, the model's and a tool's."""
    return ",".join(message["role"][0] for message in request["messages"])
