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


async def test_blocks_that_came_together_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "FEW", 1)
    monkeypatch.setattr(crowd, "READS", 20.0)  # 0.1 seconds of pause for two answers
    model = ScriptedModel()
    text = "word by word, " * 40
    model.says(text).says(text)
    async with serve_model(model) as service:
        provider = Provider(model="m", base_url=service.base_url)

        async def answer() -> None:
            request = ModelRequest(messages=[{"role": "user", "content": "hi"}])
            async for _ in provider.stream(request):
                pass

        async with asyncio.timeout(4.0):  # a pause for each word would take twelve
            await asyncio.gather(answer(), answer())
        await provider.close()


async def test_answers_with_much_to_read_hold_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "FEW", 0)
    monkeypatch.setattr(crowd, "LONGEST", 0.0)
    answers = Crowd()
    others: list[int] = []
    with answers.one_more():
        for number in range(3):
            turn = answers.turn
            asyncio.get_running_loop().call_soon(others.append, number)
            await answers.pause(waited=False)
            assert answers.turn != turn
    assert others == [0, 1, 2]
