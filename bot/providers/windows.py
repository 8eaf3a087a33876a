"""How much a model reads at once: told by its service, or known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from bot.providers.presets import ProviderType
from bot.providers.settings import ProviderSettings

_FIELDS = (
    "context_length",  # OpenRouter, Together, the sandbox; Ollama of a model that is loaded
    "max_model_len",  # vLLM
    "context_window",  # Groq
    "max_context_length",  # Mistral, LM Studio
    "max_input_tokens",  # LiteLLM, Anthropic
    "n_ctx",  # llama.cpp
    "inputTokenLimit",  # Gemini
)
_SILENT = {ProviderType.OPENAI, ProviderType.AZURE}
_INSIDE = ("meta", "top_provider", "limits", "model_info")

KNOWN: Mapping[str, int] = {
    "gpt-3.5-turbo": 16_385,
    "gpt-4-turbo": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4o": 128_000,
    "gpt-4": 8_192,
    "gpt-5": 272_000,
    "o1": 200_000,
    "o3": 200_000,
    "o4": 200_000,
    "chatgpt-4o": 128_000,
    "claude-": 200_000,
    "gemini-": 1_048_576,
    "deepseek-": 64_000,
}
"""Tokens of what models read, by how their names begin; from their makers' pages."""


def tells_of_models(settings: ProviderSettings) -> Iterator[str]:
    """Give the addresses at which a service may tell how much its models read."""
    if settings.provider_type is ProviderType.OLLAMA:
        # What a model could read is more than Ollama loads it for, and cuts requests to.
        yield f"{settings.base_url.rstrip('/').removesuffix('/v1')}/api/ps"
    elif settings.provider_type not in _SILENT:
        yield f"/models/{quote(settings.model, safe='/:')}"
        yield "/models"


def known_window(model: str) -> int | None:
    """Return what is known of a model by its name, a maker's name before it or not."""
    name = model.lower().rpartition("/")[2]
    found = [start for start in KNOWN if name.startswith(start)]
    return KNOWN[max(found, key=len)] if found else None


def told_window(body: object, model: str) -> int | None:
    """Read the window from what a service tells of its models, or of one."""
    for entry in _entries(body):
        if model in _names(entry):
            return next(_windows(entry), None)
    return None


def _entries(body: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(body, Mapping):
        listed = body.get("data", body.get("models"))
        body = listed if isinstance(listed, list) else [body]
    if isinstance(body, list):
        yield from (entry for entry in body if isinstance(entry, Mapping))


def _names(entry: Mapping[str, Any]) -> set[object]:
    names = {str(entry.get(field)) for field in ("id", "name", "model")}
    return names | {name.removesuffix(":latest") for name in names}


def _windows(entry: Mapping[str, Any]) -> Iterator[int]:
    inside = (entry.get(name) for name in _INSIDE)
    for holder in (entry, *(each for each in inside if isinstance(each, Mapping))):
        for field in _FIELDS:
            value = holder.get(field)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                yield value
