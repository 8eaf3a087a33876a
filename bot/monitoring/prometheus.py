"""The metrics as Prometheus reads them.

They are this process's own, except `parley_open_turns` and `parley_approvals_waiting`, which are
read from the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from bot.events import (
    AssistantMessageEvent,
    CompactionDoneEvent,
    RecordedEvent,
    TurnEndedEvent,
    Usage,
)
from bot.monitoring.metrics import Metrics, Open

SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
LONG = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 60.0, 300.0)


class PrometheusMetrics(Metrics):
    """Keeps the numbers, in a registry of its own."""

    def __init__(self) -> None:
        self._registry = made = CollectorRegistry()
        self._turns = Counter("parley_turns", "Turns that ended.", ["outcome"], registry=made)
        self._tokens = Counter(
            "parley_tokens", "Tokens that the model service reported.", ["kind"], registry=made
        )
        self._limited = Counter(
            "parley_discord_rate_limited", "Answers 429 of Discord.", ["scope"], registry=made
        )
        self._first_text = Histogram(
            "parley_first_text_seconds",
            "From a recorded question to the first text of its answer.",
            buckets=LONG,
            registry=made,
        )
        self._edit_lag = Histogram(
            "parley_edit_lag_seconds",
            "How old the oldest text was that an edit brought to the screen.",
            buckets=LONG,
            registry=made,
        )
        self._loop_lag = Histogram(
            "parley_event_loop_lag_seconds",
            "How much later than asked the event loop turned.",
            buckets=SHORT,
            registry=made,
        )
        self._database = Histogram(
            "parley_database_seconds",
            "How long reads and writes took, waiting included.",
            ["kind"],
            buckets=SHORT,
            registry=made,
        )
        self._open = Gauge("parley_open_turns", "Turns without an end.", registry=made)
        self._waiting = Gauge(
            "parley_approvals_waiting", "Requests without a decision.", registry=made
        )
        self._connected = Gauge(
            "parley_gateway_connected", "1 while every shard is connected.", registry=made
        )

    def recorded(self, events: Sequence[RecordedEvent]) -> None:
        """Count the turns that end, and the tokens."""
        for event in events:
            if event.ends_turn:
                self._turns.labels(_outcome(event)).inc()
            if isinstance(event, AssistantMessageEvent | CompactionDoneEvent) and event.usage:
                for kind, count in _kinds(event.usage):
                    self._tokens.labels(kind).inc(count)

    def first_text(self, seconds: float) -> None:
        """Note how long people waited for an answer to begin."""
        self._first_text.observe(seconds)

    def edited(self, behind: float) -> None:
        """Note how far the screen was behind."""
        self._edit_lag.observe(behind)

    def rate_limited(self, scope: str) -> None:
        """Count a 429."""
        self._limited.labels(scope).inc()

    def loop_lag(self, seconds: float) -> None:
        """Note how late the loop turned."""
        self._loop_lag.observe(max(0.0, seconds))

    def database(self, kind: str, seconds: float) -> None:
        """Note how long the database took."""
        self._database.labels(kind).observe(seconds)

    def text(self, *, connected: bool, found: Open | None) -> bytes:
        """Return everything in the text format, with what is so now."""
        self._connected.set(connected)
        if found is not None:
            self._open.set(found.turns)
            self._waiting.set(found.approvals)
        return generate_latest(self._registry)


def _outcome(event: RecordedEvent) -> str:
    return str(event.outcome) if isinstance(event, TurnEndedEvent) else "completed"


def _kinds(usage: Usage) -> Iterator[tuple[str, int]]:
    kinds = {
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cached": usage.cached_tokens,
    }
    return ((kind, count) for kind, count in kinds.items() if count)
