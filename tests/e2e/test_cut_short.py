"""What somebody asked for by hand and the bot, which ends, has no time for: they are told."""

from __future__ import annotations

import asyncio

import pytest

from bot.frontend.commands.interactions import CUT_SHORT
from bot.sandbox import Answer, Gate, Message
from tests.e2e.stage import Stage
from tests.e2e.test_cards import DELETE, asks
from tests.e2e.test_compaction import chats, understood
from tests.e2e.test_last_clicks import (
    Gesture,
    Prepare,
    approving,
    choosing,
    clicking,
    resetting,
    sending_off,
)
from tests.e2e.test_leaving import ended


async def forgetting(stage: Stage, _: Message) -> Gesture:
    asked = (await stage.alice.runs("/forget", in_=stage.desk, what="mine")).message
    assert asked is not None
    return lambda: stage.alice.clicks(asked, "Forget")


async def reminding(stage: Stage, _: Message) -> Gesture:
    return lambda: stage.alice.runs("/remind", in_=stage.desk, when="in 5 minutes", text="tea")


async def exporting(stage: Stage, _: Message) -> Gesture:
    return lambda: stage.alice.runs("/export", in_=stage.desk)


async def asking_for_more(stage: Stage, card: Message) -> Gesture:
    return lambda: stage.mod.clicks(card, "More…")


async def showing_policy(stage: Stage, _: Message) -> Gesture:
    return lambda: stage.mod.runs("/policy show", in_=stage.desk)


@pytest.mark.parametrize(
    "prepare",
    [
        approving,
        clicking,
        sending_off,
        resetting,
        choosing,
        forgetting,
        reminding,
        exporting,
        asking_for_more,
        showing_policy,
    ],
)
async def test_what_there_is_no_time_for_is_told(stage: Stage, prepare: Prepare) -> None:
    stage.model.says(calls=[DELETE]).then("I see.")
    async with stage.running(drain_seconds=0.0) as client:
        act = await prepare(stage, await asks(stage))
        gate = Gate()
        stage.world.faults.next_request(
            "POST", "/interactions/*/*/callback", held_by=gate, after_effect=True
        )
        acting = asyncio.create_task(act())
        await gate.reached()
        leaving = asyncio.create_task(client.close())
        await ended(lambda: client._parts.work._closed)
        gate.release()
        await leaving
        answer = await acting
    assert isinstance(answer, Answer)
    assert CUT_SHORT in [each.content for each in answer.messages]


async def test_a_summary_that_never_comes_is_given_up_with_a_word(stage: Stage) -> None:
    stage.model.answers(understood)
    async with stage.running(drain_seconds=0.1, turns_per_minute=100) as client:
        await chats(stage, 3)
        gate = stage.model.pauses("So far", then=" nothing.")
        acting = asyncio.create_task(stage.alice.runs("/compact", in_=stage.desk))
        await gate.reached.wait()
        await client.close()
        answer = await acting
        gate.release()
    assert answer.text == CUT_SHORT
