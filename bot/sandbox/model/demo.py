"""A stand-in for a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.sandbox.model.replies import Answer, Reply


class DemoModel:
    """Talks by a few rules, at a human pace, and says that it is no model."""

    def __init__(self, *, delay: float = 0.03) -> None:
        self._delay = delay

    def reply(self, request: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        """Answer the last message."""
        return Answer("I am a scripted stand-in, no AI model.", delay=self._delay)
