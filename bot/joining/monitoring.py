"""The numbers for Prometheus, where they are wanted."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from bot.config import Settings
from bot.errors import ConfigError
from bot.monitoring import Watched
from bot.sessions import SQLSessionManager
from bot.sessions.stores.marks import MarkStore
from bot.sessions.stores.open_work import open_work

if TYPE_CHECKING:
    from bot.frontend import ParleyClient
    from bot.monitoring.prometheus import PrometheusMetrics


def make_metrics(settings: Settings) -> PrometheusMetrics | None:
    """Return what keeps the numbers, if they are wanted.

    Raises:
        ConfigError: if the library for them is missing.
    """
    if not settings.metrics_port:
        return None
    try:
        from bot.monitoring.prometheus import PrometheusMetrics
    except ImportError as exc:
        raise ConfigError("METRICS_PORT needs: pip install 'parley[metrics]'.") from exc
    return PrometheusMetrics()


def serve_metrics(
    settings: Settings,
    metrics: PrometheusMetrics,
    client: ParleyClient,
    store: SQLSessionManager,
) -> AbstractAsyncContextManager[None]:
    """Serve the numbers of the bot, and whether it is well, while the block lasts."""
    from bot.monitoring.server import monitored

    database = store.database
    database.on_done = metrics.database
    watched = Watched(
        connected=lambda: client.connected,
        write=lambda: MarkStore(database).set("health", ""),
        count_open=lambda: open_work(database),
    )
    return monitored(settings.metrics_host, settings.metrics_port, metrics, watched)
