"""Many answers at once are each read less often, and all arrive whole."""

import asyncio
from contextlib import ExitStack

import pytest

from bot.agent.model.service import ModelAnswer, ModelRequest
from bot.providers import Provider, crowd
from bot.providers.crowd import Crowd
from bot.sandbox.model import ScriptedModel, serve_model


def test_a_few_are_read_at_once_and_many_share_the_reads() -> None:
    answers = Crowd()
    with ExitStack() as stack:
        for _ in range(crowd.FEW):
            stack.enter_context(answers.one_more())
        assert answers.seconds == 0.0
        for _ in range(500 - crowd.FEW):
            stack.enter_context(answers.one_more())
        assert answers.seconds == 500 / crowd.READS
    assert answers.seconds == 0.0


async def test_answers_of_a_crowd_arrive_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "FEW", 1)
    model = ScriptedModel()
    text = "word by word, " * 20
    for _ in range(5):
        model.says(text)
    async with serve_model(model) as service:
        provider = Provider(model="m", base_url=service.base_url)

        async def answer() -> str:
            request = ModelRequest(messages=[{"role": "user", "content": "hi"}])
            events = [event async for event in provider.stream(request)]
            assert isinstance(events[-1], ModelAnswer)
            return events[-1].text

        assert await asyncio.gather(*(answer() for _ in range(5))) == [text] * 5
        await provider.close()
