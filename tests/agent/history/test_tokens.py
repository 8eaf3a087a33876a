"""Tokens of a model that can be counted here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot import Agent, CompactionDoneEvent, InMemorySessionManager
from bot.agent.history.tokens import DEFAULT, SAMPLE, sample_of
from bot.agent.model.capacity import Capacity
from bot.agent.model.service import ModelAnswer, ModelRequest
from tests.agent.conftest import events_of


class Letters:
    """A model of which a token is a letter, and which reads 2,000; it reports nothing."""

    model = "letters"

    def __init__(self, *, counts: bool = True) -> None:
        self._counts = counts
        self.asked: list[ModelRequest] = []

    async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
        self.asked.append(request)
        yield ModelAnswer(text="in short")

    async def context_window(self) -> int | None:
        return 2_000

    async def count_tokens(self, text: str) -> int | None:
        return len(text) if self._counts else None

    async def close(self) -> None: ...


def said(text: object) -> list[Mapping[str, Any]]:
    return [{"role": "user", "content": text}]


async def test_what_can_be_counted_is_counted() -> None:
    scale = await Capacity(Letters()).scale(said("x" * 500))
    assert scale.bytes_per_token < 1.1
    assert await Capacity(Letters(counts=False)).scale(said("x" * 500)) == DEFAULT
    assert await Capacity(Letters()).scale([]) == DEFAULT


async def test_a_service_that_reports_nothing_is_compacted_in_time() -> None:
    kept = InMemorySessionManager()
    model = Letters()
    agent = Agent(provider=model, session_manager=kept)
    for _ in range(10):
        await agent.run("x" * 400, session_id="s")
    assert await events_of(kept, "s", CompactionDoneEvent)
    letters = [sum(len(each["content"]) for each in asked.messages) for asked in model.asked]
    assert max(letters) < 2_000
    await agent.close()


def test_a_sample_is_some_of_the_latest_text() -> None:
    messages = [*said("a" * SAMPLE), *said(["no text"]), *said("b" * SAMPLE), *said("last")]
    sample = sample_of(messages)
    assert sample.startswith("last\nbbb")
    assert "a" not in sample.removeprefix("last")
    assert len(sample) <= SAMPLE + 1
