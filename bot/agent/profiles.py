"""Profiles: how the agent answers in one session, where that differs from how it does elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What holds for a session; what is not said is the agent's own.

    Attributes:
        model: The name of a model of the same service.
        system_prompt: All that the model is told of its task.
        extra: What a request says beside the conversation, for example `temperature`.
        tools: The names of the tools that it may use, of those that the agent has.
    """

    model: str | None = None
    system_prompt: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    tools: frozenset[str] | None = None


class Profiles(Protocol):
    """Where profiles come from."""

    async def of(self, session_id: str) -> Profile:
        """Return how a session is answered from now on.

        Asked when a turn begins, and when one goes on after a wait or a restart.

        Raises:
            StorageError: if that cannot be read.
        """
        ...


class OneProfile:
    """The same for every session: the agent's own."""

    async def of(self, session_id: str) -> Profile:
        """Return it."""
        return Profile()
