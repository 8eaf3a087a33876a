"""How much a model reads at once: as services tell it, and as it is known."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from bot.providers import Provider, ProviderType
from bot.providers.windows import known_window, told_window
from bot.sandbox.model import ScriptedModel, serve_model


@asynccontextmanager
async def telling(pages: Mapping[str, object]) -> AsyncIterator[str]:
    """Serve JSON values, or texts as they are, by their paths."""

    async def page(request: web.Request) -> web.Response:
        told = pages.get(request.path)
        if told is None:
            return web.json_response({"error": {"code": "not_found"}}, status=404)
        return web.Response(text=told) if isinstance(told, str) else web.json_response(told)

    app = web.Application()
    app.router.add_get("/{path:.*}", page)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def window_of(
    base_url: str, model: str, kind: ProviderType = ProviderType.OPENAI_COMPATIBLE
) -> int | None:
    provider = Provider(kind, model=model, api_key="key", base_url=base_url)
    try:
        return await provider.context_window()
    finally:
        await provider.close()


@pytest.mark.parametrize(
    ("told", "window"),
    [
        ({"id": "m", "context_length": 8_192}, 8_192),  # OpenRouter, Together
        ({"object": "list", "data": [{"id": "m", "max_model_len": 4_096}]}, 4_096),  # vLLM
        ({"data": [{"id": "n", "max_model_len": 1}, {"id": "m", "context_window": 5}]}, 5),  # Groq
        ({"data": [{"id": "m", "meta": {"n_ctx_train": 9, "n_ctx": 7}}]}, 7),  # llama.cpp
        ({"models": [{"name": "m:latest", "context_length": 4_096}]}, 4_096),  # Ollama
        ([{"id": "m", "top_provider": {"context_length": 3}}], 3),
        ({"data": [{"id": "m", "context_length": 0, "max_input_tokens": 6}]}, 6),
        ({"data": [{"id": "m", "context_length": True}]}, None),
        ({"data": [{"id": "m", "context_length": "many", "meta": 5}, 5]}, None),
        ({"data": [{"id": "n", "context_length": 8}]}, None),
        ({"data": None}, None),
        ("nothing", None),
        (None, None),
    ],
)
def test_it_is_read_from_what_services_tell(told: object, window: int | None) -> None:
    assert told_window(told, "m") == window


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4", 8_192),
        ("gpt-4o-mini", 128_000),
        ("openai/GPT-4.1-nano", 1_047_576),
        ("anthropic/claude-sonnet", 200_000),
        ("my-model", None),
    ],
)
def test_it_is_known_of_some_by_their_names(model: str, window: int | None) -> None:
    assert known_window(model) == window


async def test_a_service_is_asked_for_the_model_and_then_for_all_of_them() -> None:
    async with serve_model(ScriptedModel(), name="org/m", window=700) as server:
        assert await window_of(server.base_url, "org/m") == 700
    listed = {"/v1/models": {"data": [{"id": "org/m", "max_model_len": 600}]}}
    async with telling(listed) as base_url:
        assert await window_of(base_url, "org/m") == 600


async def test_ollama_is_asked_what_it_has_loaded() -> None:
    loaded = {"/api/ps": {"models": [{"name": "llama3:latest", "context_length": 4_096}]}}
    async with telling(loaded) as base_url:
        assert await window_of(base_url, "llama3", ProviderType.OLLAMA) == 4_096
        assert await window_of(base_url, "other", ProviderType.OLLAMA) is None


@pytest.mark.parametrize("page", ["<html>", "{}"])
async def test_a_service_that_tells_nonsense_tells_nothing(page: str) -> None:
    async with telling({"/v1/models": page, "/v1/models/m": page}) as base_url:
        assert await window_of(base_url, "m") is None


async def test_a_service_that_is_away_tells_nothing() -> None:
    assert await window_of("http://127.0.0.1:9/v1", "gpt-4o") == 128_000


async def test_one_that_tells_nobody_is_not_asked() -> None:
    async with telling({"/v1/models/gpt-4": {"id": "gpt-4", "context_length": 5}}) as base_url:
        assert await window_of(base_url, "gpt-4", ProviderType.OPENAI) == 8_192
