"""The models of one service, by name."""

from __future__ import annotations

from dataclasses import dataclass

from bot.agent.model.capacity import Capacity
from bot.agent.model.service import HasModels, Model


@dataclass(frozen=True, slots=True)
class Known:
    """A model, and how much it reads."""

    model: Model
    capacity: Capacity


class Models:
    """The agent's model, and others of its service, each made when first asked for.

    Args:
        model: The agent's own.
        window: Tokens that each of them reads; 0: found out for each, where that can be.
        share: Of its window, from which on a conversation is compacted.
    """

    def __init__(self, model: Model, *, window: int = 0, share: float = 0.75) -> None:
        self._own = model
        self._window = window
        self._share = share
        self._known: dict[str, Known] = {}

    def of(self, name: str | None) -> Known:
        """Return the model of a name; the agent's own where the service has no others."""
        model = self._own
        if name and name != model.model and isinstance(model, HasModels):
            model = model.named(name)
        known = self._known.get(model.model)
        if known is None:
            capacity = Capacity(model, window=self._window, share=self._share)
            known = self._known[model.model] = Known(model, capacity)
        return known
