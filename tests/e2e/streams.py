"""Answers that take their time, and how far the screen is behind them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.frontend.rendering.markdown import LIMIT
from bot.frontend.rendering.unfinished import MORE
from bot.sandbox import Place, User, World
from bot.sandbox.model.replies import Streamed, delta_chunk, sse

TICK = 0.02


@dataclass(slots=True)
class Paced(Streamed):
    """An answer token by token at a steady rate; `said` are the times of its visible characters."""

    tokens: list[str] = field(default_factory=list)
    rate: float = 50.0
    said: list[float] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(self.tokens)

    async def body(self, request: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """Stream the answer, and catch up where the machine was late."""
        begun = time.monotonic()
        for number, token in enumerate(self.tokens):
            await asyncio.sleep(max(0.0, begun + number / self.rate - time.monotonic()))
            yield sse(delta_chunk({"content": token}))
            self.said += [time.monotonic()] * len(dense(token))
        yield sse(delta_chunk({}, "stop"))
        yield sse("[DONE]")


def words(count: int, length: int = 2) -> list[str]:
    """Return so many tokens, each a word with the space behind it."""
    letters = "etaoinshrdlu"
    word = [letters[n % 12] + letters[n // 12 % 12] * (length - 1) for n in range(144)]
    return [f"{word[n % 144]} " for n in range(count)]


def dense(text: str) -> str:
    """Return what is visible of a text, without the sign that more comes."""
    return "".join(text.split()).replace(MORE, "")


def shown(place: Place, bot: User) -> str:
    """Return what the bot says in a place, all messages together."""
    return dense("".join(each.content for each in place.messages if each.author is bot))


@dataclass(slots=True)
class Lags:
    """Watches a screen while answers come, and notes how old what is missing there is."""

    first: list[float] = field(default_factory=list)
    ages: list[float] = field(default_factory=list)

    async def watch(self, place: Place, bot: User, answer: Paced) -> None:
        """Look until the whole answer is there; it must fit into five messages."""
        assert len(answer.text) < 5 * LIMIT
        begun = False
        whole = len(dense(answer.text))
        while (seen := len(shown(place, bot))) < whole:
            now = time.monotonic()
            if len(answer.said) > seen:
                self.ages.append(now - answer.said[seen])
            if seen and not begun:
                begun = True
                self.first.append(now - answer.said[0])
            await asyncio.sleep(TICK)

    def at(self, share: float) -> float:
        """Return a quantile, in seconds."""
        ages = sorted(self.ages) or [0.0]
        return ages[min(len(ages) - 1, int(share * len(ages)))]


def refused(world: World) -> int:
    """Return how many requests were answered 429."""
    return sum(each.status == 429 for each in world.requests)


def written(world: World, places: Iterable[Place]) -> tuple[int, int]:
    """Return how many messages were sent to some places, and how often they were edited."""
    found = [0, 0]
    for place in places:
        for request in world.requests:
            if f"/channels/{place.id}/messages" in request.path:
                found[0] += request.method == "POST"
                found[1] += request.method == "PATCH"
    return found[0], found[1]
