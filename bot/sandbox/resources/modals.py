"""Modals: the form that a bot opens for one person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.sandbox.refusals.errors import Json

if TYPE_CHECKING:
    from bot.sandbox.resources.interactions import Interaction


@dataclass(eq=False)
class Modal:
    """A form on one person's screen.

    Attributes:
        opened_by: The click or command that it answers.
        body: The form as the bot sent it.
        closed: Whether it was sent off, and the bot took it.
    """

    opened_by: Interaction
    body: Json
    closed: bool = False

    @property
    def title(self) -> str:
        """What stands above it."""
        return str(self.body["title"])

    @property
    def inputs(self) -> list[Json]:
        """The inputs in order, each with its label."""
        return [
            item | {"label": part.get("label", item.get("label"))}
            for part, item in _inputs(self.body)
        ]


def _inputs(body: Json) -> Iterator[tuple[Json, Json]]:
    for part in body["components"]:
        for item in part.get("components") or [part.get("component")]:
            if item is not None:
                yield part, item
