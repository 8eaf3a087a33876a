from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from bot.agent.model.service import ModelAnswer, ModelEvent, ModelRequest
from bot.errors import ModelError
from bot.providers import Provider, RetryPolicy
from bot.sandbox.model import ScriptedModel, serve_model

KEY = "sk-secret-0123456789"
QUICK = RetryPolicy(first_delay=0.002, max_delay=0.01)
HELLO = ModelRequest(messages=[{"role": "user", "content": "hello"}])

Make = Callable[..., Provider]


@pytest.fixture
def service() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
async def base_url(service: ScriptedModel) -> AsyncIterator[str]:
    async with serve_model(service) as server:
        yield server.base_url


@pytest.fixture
async def make(base_url: str) -> AsyncIterator[Make]:
    """Make providers of the scripted service; they are closed with the test."""
    async with AsyncExitStack() as stack:

        def provider(**options: Any) -> Provider:
            defaults = {"api_key": KEY, "model": "m", "base_url": base_url, "retry": QUICK}
            made = Provider(**{**defaults, **options})
            stack.push_async_callback(made.close)
            return made

        yield provider


@pytest.fixture
def provider(make: Make) -> Provider:
    return make()


async def events_of(provider: Provider, request: ModelRequest = HELLO) -> list[ModelEvent]:
    return [event async for event in provider.stream(request)]


async def answer_of(provider: Provider, request: ModelRequest = HELLO) -> ModelAnswer:
    answer = (await events_of(provider, request))[-1]
    assert isinstance(answer, ModelAnswer)
    return answer


async def failure_of(
    provider: Provider, request: ModelRequest = HELLO
) -> tuple[list[ModelEvent], ModelError]:
    """Return what came before the error, and the error."""
    events = []
    try:
        async for event in provider.stream(request):
            events.append(event)
    except ModelError as error:
        return events, error
    pytest.fail("the model answered")
