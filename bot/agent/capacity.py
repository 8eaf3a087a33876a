"""How much the model reads at once, and from when on a conversation is compacted."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from bot.agent.compaction import Room
from bot.agent.model import Model, TellsContextWindow
from bot.agent.tokens import Scale
from bot.errors import ModelError

logger = logging.getLogger(__name__)

UNKNOWN = 32_768
"""Tokens that a model is taken to read where nobody knows: less than most do."""
SMALLEST = 4_096
"""Tokens that every model reads: below, nobody has to be asked."""
KEPT = 0.25
"""Share of the window that recent turns fill at most after a compaction."""
FILLED = 0.5
"""Share of the window that anything is to fill after a compaction."""
SUMMARY = 0.1
"""Share of the window that a summary may take."""
LONGEST_SUMMARY = 4_000
"""Tokens that it may take in the largest window."""
PIECE = 0.5
"""Share of the window that is summarised at once."""
GROWTH = 0.1
"""Share of the window by which a conversation grows before what did not help is tried again."""
BY_HAND = 2
"""Turns that stay whole when people ask for a compaction."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a compaction has to come down to, in a window of so many tokens."""

    window: int
    scale: Scale
    beside: int = 0

    @property
    def room(self) -> Room:
        """What may stay when the window is nearly full."""
        limit = self.window * max(FILLED - SUMMARY - self.beside / self.window, SUMMARY)
        return Room(keep=self.scale.size(self.window * KEPT), limit=self.scale.size(limit))

    @property
    def room_by_hand(self) -> Room:
        """What may stay when people ask for a compaction."""
        room = self.room
        return Room(keep=room.keep, limit=room.limit, turns=BY_HAND)

    @property
    def summary(self) -> int:
        """Bytes that the summary may have."""
        return self.scale.size(min(self.window * SUMMARY, LONGEST_SUMMARY))

    @property
    def words(self) -> int:
        """Words that the summary may have, as the model is told: few models count well."""
        return max(60, int(min(self.window * SUMMARY, LONGEST_SUMMARY) / 2))

    @property
    def piece(self) -> int:
        """Bytes that are summarised at once."""
        return self.scale.size(self.window * PIECE)


class Capacity:
    """The model's context window, and when a conversation comes too close to it.

    Args:
        model: Asked for its window where `window` is 0 and it can tell.
        window: In tokens.
        share: Of the window, from which on a conversation is compacted.
    """

    def __init__(self, model: Model, *, window: int = 0, share: float = 0.75) -> None:
        if window < 0 or not 0 < share < 1:
            raise ValueError("a context window has some tokens, and a share lies between 0 and 1")
        self._model = model
        self._window = window
        self._share = share
        self._asking = asyncio.Lock()
        self._not_before: dict[str, int] = {}

    async def window(self) -> int:
        """Return the window in tokens; the model is asked once."""
        async with self._asking:
            self._window = self._window or await self._asked() or UNKNOWN
            return self._window

    async def _asked(self) -> int | None:
        if not isinstance(self._model, TellsContextWindow):
            return None
        try:
            return await self._model.context_window()
        except ModelError as exc:
            logger.warning("the model's context window is not known: %s", exc)
            return None

    async def is_passed(self, session_id: str, tokens: int) -> bool:
        """Return whether a request of so many tokens calls for a compaction."""
        if not self._window and tokens < SMALLEST * self._share:
            return False
        passed = tokens >= await self.window() * self._share
        if not passed:
            self._not_before.pop(session_id, None)
        return passed and tokens >= self._not_before.get(session_id, 0)

    async def put_off(self, session_id: str, tokens: int) -> None:
        """Try no more until the conversation has grown well beyond so many tokens."""
        self._not_before[session_id] = tokens + int(await self.window() * GROWTH)
