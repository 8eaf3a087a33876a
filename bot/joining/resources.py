"""The model service and the sessions that are set up."""

from __future__ import annotations

from bot.config import Settings
from bot.providers import Provider, ProviderType
from bot.sessions import PostgresSessionManager, SQLiteSessionManager, SQLSessionManager


def make_provider(settings: Settings) -> Provider:
    """Return the model service that is set up."""
    return Provider(
        ProviderType(settings.service),
        model=settings.openai_model,
        api_key=settings.openai_api_key.get_secret_value(),
        base_url=settings.openai_base_url,
        idle_timeout=settings.model_idle_seconds,
    )


def make_store(settings: Settings) -> SQLSessionManager:
    """Return the sessions of the database that is set up."""
    if url := settings.database_url.get_secret_value():
        return PostgresSessionManager(url)
    return SQLiteSessionManager(settings.database)
