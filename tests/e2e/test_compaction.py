"""A conversation that grows long: summarised by itself, by hand, and through a kill."""

import asyncio
from collections.abc import Mapping
from typing import Any

from bot.events import CompactionDoneEvent
from bot.frontend.view.view import SUMMARISED
from bot.sandbox import Message
from bot.sandbox.model import Answer, Gate, Pauses, Reply
from bot.sandbox.model.conversation import Conversation
from bot.sandbox.model.demo import answer_to
from tests.e2e.stage import PATIENCE, Stage, is_written


def understood(request: Mapping[str, Any]) -> Answer:
    """Answer from what the request says, and from nothing else."""
    return answer_to(Conversation(request))


async def tells(stage: Stage, text: str) -> list[str]:
    """Let alice say something; return all that the bot has said once it has answered that."""
    before = len(stage.model.requests)

    def answered(messages: list[Message]) -> bool:
        last = messages[-1]
        asked = len(stage.model.requests) > before
        return (
            asked
            and last.author is stage.bot
            and not is_written(last)
            and last.content != SUMMARISED
        )

    await stage.alice.says(text, in_=stage.desk)
    await stage.desk.until(answered, PATIENCE)
    return stage.said(stage.desk)


async def chats(stage: Stage, count: int) -> None:
    """Let alice say so many things of some length."""
    for number in range(count):
        await tells(stage, f"number {number}: {'la ' * 100}")


async def test_a_conversation_is_summarised_by_hand(stage: Stage) -> None:
    stage.model.answers(understood)
    async with stage.running(turns_per_minute=100):
        nowhere = await stage.alice.runs("/compact", in_=stage.desk)
        assert nowhere.text == "There is no conversation here yet."
        await tells(stage, "my name is Alice")
        nothing = await stage.alice.runs("/compact", in_=stage.desk)
        assert nothing.text == "There is nothing to summarise yet."
        await chats(stage, 3)
        answer = await stage.alice.runs("/compact", in_=stage.desk)
        assert answer.text == "2 messages summarised."
        await stage.says(stage.desk, SUMMARISED)
        assert (await tells(stage, "what is my name?"))[-1] == "You are Alice."
    assert len(stage.asked[-1]) == 1 + 2 * 2 + 1
    assert stage.said(stage.desk).count(SUMMARISED) == 1


async def test_a_conversation_that_grows_long_is_summarised_by_itself(stage: Stage) -> None:
    stage.context_window = 1_500
    stage.model.answers(understood)
    async with stage.running(turns_per_minute=100):
        await tells(stage, "my name is Alice")
        await chats(stage, 9)
        said = await tells(stage, "what is my name?")
    assert said[-1] == "You are Alice."
    assert 0 < said.count(SUMMARISED) < 4
    assert not any("(reference" in each for each in said)
    log = await stage.log_of(f"channel-{stage.desk.id}")
    assert sum(isinstance(event, CompactionDoneEvent) for event in log) == said.count(SUMMARISED)
    assert sum(event.kind == "user_message" for event in log) == 11


async def test_who_may_not_talk_here_may_not_compact(stage: Stage) -> None:
    stage.model.answers(understood)
    async with stage.running(user_ids=frozenset({stage.alice.id})):
        await chats(stage, 3)
        refused = await stage.bob.runs("/compact", in_=stage.desk)
    assert refused.text == "You may not talk to me here."
    assert len(stage.model.requests) == 3


async def test_a_summary_that_fails_is_told_to_who_asked_alone(stage: Stage) -> None:
    stage.model.answers(understood)
    async with stage.running(turns_per_minute=100):
        await chats(stage, 3)
        stage.model.fails(503)
        answer = await stage.alice.runs("/compact", in_=stage.desk)
        assert answer.text is not None
        assert answer.text.startswith("I could not summarise it. The model service ")
        assert "(reference " in answer.text
        said = await tells(stage, "my name is Alice")
    assert not any("(reference " in each for each in said)


async def test_a_kill_during_a_compaction_loses_nothing(stage: Stage) -> None:
    stage.context_window = 1_500
    gate = Gate()

    def held(request: Mapping[str, Any]) -> Reply | str:
        answer = understood(request)
        return Pauses(gate, "", answer) if Conversation(request).summarises else answer

    stage.model.answers(held)
    async with stage.running(turns_per_minute=100) as client:
        await tells(stage, "my name is Alice")
        number = 0
        while not gate.reached.is_set():
            number += 1
            said = asyncio.create_task(chats(stage, 1))
            reached = asyncio.create_task(gate.reached.wait())
            await asyncio.wait({said, reached}, return_when=asyncio.FIRST_COMPLETED)
            for task in (said, reached):
                task.cancel()
            await asyncio.wait({said, reached})
        await stage.kill(client)
    stage.model.answers(understood)
    async with stage.running(turns_per_minute=100):
        await stage.desk.until(lambda messages: len(stage.said(stage.desk)) > number + 1, PATIENCE)
        assert (await tells(stage, "what is my name?"))[-1] == "You are Alice."
    assert stage.said(stage.desk).count(SUMMARISED) == 1
