"""A model whose answers follow from the message alone, and tell how often it was asked."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.sandbox.model.replies import (
    Answer,
    Call,
    Failure,
    Gate,
    Pauses,
    Reply,
    Streamed,
    delta_chunk,
    sse,
)

TAKES = 9
"""How often the model is asked the same at most."""

_TOKEN = re.compile(r"\bq\d+\b")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the model does about one message.

    Attributes:
        calls: The tools it calls, each with the line it is to write.
        before: Whether it says something before it calls them.
        lines: How long its answer is, by how often it was asked; the last number stays.
        pieces: In how many pieces a text comes.
        pause: Seconds between two pieces.
        hangs: It never comes to the end of its answer.
        fails: The service refuses instead.
    """

    calls: tuple[tuple[str, str], ...] = ()
    before: bool = False
    lines: tuple[int, ...] = (1,)
    pieces: int = 2
    pause: float = 0.1
    hangs: bool = False
    fails: bool = False

    def said_before(self, token: str, take: int) -> str:
        """Return what it says before its calls; every take says it in other words."""
        return (
            f"Let me see about {token} (take {take}), @everyone."
            if self.before and self.calls
            else ""
        )

    def answer(self, token: str, take: int) -> str:
        """Return its answer."""
        count = self.lines[min(take, len(self.lines)) - 1]
        body = (f"{token} take {take} says line {number} of it." for number in range(count))
        return "\n".join([f"About {token} for @everyone:", *body, f"End of {token}, take {take}."])

    def answers(self, token: str) -> list[str]:
        """Return every answer that it may give, in all its takes."""
        return [self.answer(token, take) for take in range(1, TAKES + 1)]

    def befores(self, token: str) -> list[str]:
        """Return everything that it may say before its calls."""
        return [self.said_before(token, take) for take in range(1, TAKES + 1)]


class Mind:
    """Replies by the plan of the last message that a person wrote."""

    def __init__(self) -> None:
        self.plans: dict[str, Plan] = {}
        self._takes: Counter[tuple[str, str]] = Counter()

    def reply(self, request: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        """Choose the reply to a request."""
        messages = request["messages"]
        if str(messages[0]["content"]).startswith("Summarise "):
            return Answer("There was some talk.")
        asked = next(each for each in reversed(messages) if each["role"] == "user")
        found = _TOKEN.search(str(asked["content"]))
        if found is None:
            return Failure(400, {"error": {"message": "there is no plan for this"}})
        return self._planned(found[0], messages[-1]["role"])

    def _planned(self, token: str, last: str) -> Reply:
        plan = self.plans[token]
        self._takes[token, last] += 1
        take = self._takes[token, last]
        if plan.fails:
            return Failure(400, {"error": {"message": "not today", "code": "bad_request"}})
        if plan.calls and last == "user":
            calls: list[Call] = [(name, {"line": line}) for name, line in plan.calls]
            return _Slowly(plan, plan.said_before(token, take), calls)
        text = plan.answer(token, take)
        return Pauses(Gate(), text[:40]) if plan.hangs else _Slowly(plan, text, [])


@dataclass(slots=True)
class _Slowly(Streamed):
    """An answer that comes in pieces."""

    plan: Plan
    text: str
    calls: list[Call]

    async def body(self, request: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """Stream the pieces, and the end of the answer with the last."""
        size = len(self.text) // self.plan.pieces + 1
        first = self.text[: size * (self.plan.pieces - 1)]
        for start in range(0, len(first), size):
            yield sse(delta_chunk({"content": first[start : start + size]}))
            await asyncio.sleep(self.plan.pause)
        async for block in Answer(self.text[len(first) :], self.calls).body(request):
            yield block
