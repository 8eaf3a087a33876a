"""What differs between services that speak the same protocol."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ProviderType(StrEnum):
    """A service, or a kind of it."""

    OPENAI_COMPATIBLE = "openai_compatible"
    OPENAI = "openai"
    OPENROUTER = "openrouter"
    OLLAMA = "ollama"
    GEMINI = "gemini"
    ANTHROPIC = "anthropic"
    AZURE = "azure"
    LITELLM = "litellm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Where a service is, and what it needs.

    Attributes:
        base_url: `None` where only the operator knows it.
        needs_key: a request without a key is refused anyway.
    """

    base_url: str | None
    needs_key: bool = True


PRESETS = {
    ProviderType.OPENAI_COMPATIBLE: Preset(base_url=None, needs_key=False),
    ProviderType.OPENAI: Preset(base_url="https://api.openai.com/v1"),
    ProviderType.OPENROUTER: Preset(base_url="https://openrouter.ai/api/v1"),
    ProviderType.OLLAMA: Preset(base_url="http://127.0.0.1:11434/v1", needs_key=False),
    ProviderType.GEMINI: Preset(
        base_url="https://generativelanguage.googleapis.com/v1beta/openai/"
    ),
    ProviderType.ANTHROPIC: Preset(base_url="https://api.anthropic.com/v1/"),
    ProviderType.AZURE: Preset(base_url=None),
    ProviderType.LITELLM: Preset(base_url="http://127.0.0.1:4000/v1", needs_key=False),
}
