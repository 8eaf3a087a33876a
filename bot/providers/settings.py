"""What a provider is made from, checked at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from bot.errors import ConfigError
from bot.providers.presets import PRESETS, ProviderType


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """A service, a model and how patient to be.

    Attributes:
        connect_timeout: seconds to reach the service.
        idle_timeout: seconds without a single byte, also before the first; there is no limit
            to how long an answer takes.
        extra_body: what every request says beside the conversation, for example `temperature`.
        api_version: Azure only.
    """

    provider_type: ProviderType
    model: str
    base_url: str
    api_key: str = field(repr=False)
    connect_timeout: float
    idle_timeout: float
    extra_body: Mapping[str, Any]
    headers: Mapping[str, str] = field(repr=False)
    api_version: str


def checked(
    provider_type: ProviderType, *, base_url: str | None, api_key: str | None, **rest: Any
) -> ProviderSettings:
    """Fill in what the service's preset knows.

    Raises:
        ConfigError: names everything that is missing or wrong, and never the key.
    """
    settings = ProviderSettings(
        provider_type=provider_type,
        base_url=(base_url or PRESETS[provider_type].base_url or "").strip(),
        api_key=(api_key or "").strip(),
        **rest,
    )
    problems = list(_problems(settings))
    if problems:
        raise ConfigError(*problems)
    return settings


def _problems(settings: ProviderSettings) -> Iterator[str]:
    name = settings.provider_type.value
    if not settings.model:
        yield "the model's name is missing"
    if not settings.base_url:
        yield f"provider {name} needs a base_url"
    elif not _is_http(settings.base_url):
        yield f"base_url must be like https://host/v1, not {settings.base_url!r}"
    if PRESETS[settings.provider_type].needs_key and not settings.api_key:
        yield f"provider {name} needs an api_key"
    if not (settings.api_key.isascii() and settings.api_key.isprintable()):
        yield "the api_key holds characters that no key has"


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
