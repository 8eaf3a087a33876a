"""How much the model reads at once, and from when on a conversation is compacted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.agent.history.compaction import Room
from bot.agent.history.tokens import DEFAULT, Scale, sample_of, size_of
from bot.agent.model.service import CountsTokens, Model, TellsContextWindow

UNKNOWN = 32_768
"""Tokens that a model is taken to read where nobody knows: less than most do."""
SMALLEST = 1_024
"""Tokens that every model reads: below, nobody has to be asked."""
ASKS = 3
"""How often a model is asked that cannot tell: a local service can once it has loaded it."""
KEPT = 0.25
"""Share of the window that recent turns fill at most after a compaction."""
FILLED = 0.5
"""Share of the window that anything is to fill after a compaction."""
SUMMARY = 0.1
"""Share of the window that a summary may take."""
LONGEST_SUMMARY = 4_000
"""Tokens that it may take in the largest window."""
PIECE = 0.65
"""Share of the window that is summarised at once."""
SHORTEST_PIECE = 4_000
"""Bytes that any model is asked to summarise at once, at first."""
GROWTH = 0.1
"""Share of the window by which a conversation grows before what did not help is tried again."""
BY_HAND = 2
"""Turns that stay whole when people ask for a compaction."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a compaction has to come down to, in a window of so many tokens.

    Attributes:
        beside: Tokens of what stands in every request.
        shortens: Whether texts are shortened where whole turns are too much.
    """

    window: int
    scale: Scale
    beside: int = 0
    shortens: bool = False

    @property
    def room(self) -> Room:
        """What may stay when the window is nearly full."""
        keep = self.scale.size(self.window * KEPT)
        if not self.shortens:
            return Room(keep=keep)
        share = max(FILLED - SUMMARY - self.beside / self.window, SUMMARY)
        return Room(keep=keep, limit=self.scale.size(self.window * share))

    @property
    def room_by_hand(self) -> Room:
        """What may stay when people ask for a compaction."""
        return Room(keep=self.room.keep, turns=BY_HAND)

    @property
    def summary(self) -> int:
        """Bytes that the summary may have."""
        return self.scale.size(self._summary_tokens)

    @property
    def words(self) -> int:
        """Words that the summary may have, as the model is told: few models count well."""
        return max(60, int(self._summary_tokens / 2))

    @property
    def _summary_tokens(self) -> float:
        return min(self.window * SUMMARY, LONGEST_SUMMARY)

    @property
    def piece(self) -> int:
        """Bytes that are summarised at once."""
        return max(SHORTEST_PIECE, self.scale.size(self.window * PIECE))


class Capacity:
    """The model's context window, and when a conversation comes too close to it.

    Attributes:
        is_known: Whether the window was set or told, and is no guess.

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
        self._asks = ASKS
        self.is_known = window > 0
        self._asking = asyncio.Lock()
        self._not_before: dict[str, int] = {}

    async def window(self) -> int:
        """Return the window in tokens; the model is asked when it matters."""
        async with self._asking:
            if not self.is_known and self._asks:
                self._asks -= 1
                asked = await self._asked()
                self._window, self.is_known = asked or UNKNOWN, bool(asked)
            return self._window

    async def _asked(self) -> int | None:
        model = self._model
        return await model.context_window() if isinstance(model, TellsContextWindow) else None

    async def scale(self, messages: Sequence[Mapping[str, Any]]) -> Scale:
        """Return the scale of messages of which no service has told how many tokens they are."""
        sample = sample_of(messages)
        model = self._model
        tokens = await model.count_tokens(sample) if isinstance(model, CountsTokens) else None
        return Scale.measured(size_of(sample), tokens) if tokens else DEFAULT

    async def is_passed(self, session_id: str, tokens: int) -> bool:
        """Return whether a request of so many tokens calls for a compaction."""
        if not self._window and tokens < SMALLEST * self._share:
            return False
        if tokens < await self.window() * self._share:
            self._not_before.pop(session_id, None)
            return False
        return tokens >= self._not_before.get(session_id, 0)

    async def put_off(self, session_id: str, tokens: int) -> None:
        """Where a compaction left so many tokens, try no more until they have grown well."""
        window = await self.window()
        if tokens >= window * self._share:
            self._not_before[session_id] = tokens + int(window * GROWTH)
