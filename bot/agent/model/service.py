"""What the agent asks of a model service: one streamed answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from bot.events import ToolCall, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call of the model, in the shapes of the Chat Completions API.

    Attributes:
        messages: `{"role": ..., "content": ...}`, the system prompt first.
        tools: `{"type": "function", "function": {...}}`; the same for everyone in a session.
        extra: What the request says beside those, for example `temperature`.
    """

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The service refused for now; it is asked again in `delay` seconds."""

    delay: float


@dataclass(frozen=True, slots=True)
class Reported:
    """What the service says that this attempt has used up to now; the last one counts."""

    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """The whole answer, the last thing a stream gives.

    The calls have fresh ids of ours; the service's own travel in their `extra`.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    model: str = ""
    finish_reason: str = ""
    reasoning: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


ModelEvent = TextDelta | ReasoningDelta | Retrying | Reported | ModelAnswer


class Model(Protocol):
    """A model service."""

    @property
    def model(self) -> str:
        """The model's name; opaque data goes back only to the model of the same name."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer a request: deltas as they come, then one `ModelAnswer`.

        Raises:
            ModelError: one, typed, after bounded retries that happen before the first delta only.
        """
        ...

    async def close(self) -> None:
        """Close connections; used again, it opens new ones."""
        ...


@runtime_checkable
class HasModels(Protocol):
    """A model whose service has others."""

    def named(self, model: str) -> Model:
        """Return another model of the service; closed with this one."""
        ...


@runtime_checkable
class TellsContextWindow(Protocol):
    """A model that can say how much it reads at once."""

    async def context_window(self) -> int | None:
        """Return how many tokens it reads, or `None` if that is not known."""
        ...


@runtime_checkable
class CountsTokens(Protocol):
    """A model of which the tokens can be counted here."""

    async def count_tokens(self, text: str) -> int | None:
        """Return how many tokens a text has, or `None` where that cannot be told at once."""
        ...
