"""What somebody asked for by hand and the bot, which ends, has no time for: they are told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from bot.frontend.commands.interactions import CUT_SHORT
from bot.sandbox import Answer, Gate, Message
from bot.storage.jobs import Connection
from tests.e2e.stage import Stage
from tests.e2e.test_cards import DELETE, asks, more
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


async def editing(stage: Stage, card: Message) -> Gesture:
    mine = await more(stage.mod, card)
    return lambda: stage.mod.clicks(mine, "Edit…")


async def opening_a_menu(stage: Stage, _: Message) -> Gesture:
    panel = (await stage.mod.runs("/settings", in_=stage.desk)).message
    assert panel is not None
    return lambda: stage.mod.selects(panel, "What to change", ["System prompt"])


async def completing(stage: Stage, _: Message) -> Gesture:
    return lambda: stage.mod.completes("/approve", in_=stage.desk, option="request")


@pytest.mark.parametrize("prepare", [editing, opening_a_menu, completing])
async def test_what_is_not_acknowledged_when_it_ends_is_left_alone_without_a_trace(
    stage: Stage,
    prepare: Prepare,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Discord tells that it failed, or another process of the bot answers."""
    stage.model.says(calls=[DELETE])
    async with stage.running() as client:
        act = await prepare(stage, await asks(stage))
        reads, may_read = held_up(stage, monkeypatch)
        acting = asyncio.create_task(act())
        await reads.wait()
        before = acknowledgements(stage)
        await client.close()
    may_read.set()
    await the_rest()
    acting.cancel()
    assert acknowledgements(stage) == before
    assert [each.getMessage() for each in caplog.records if each.levelno > logging.INFO] == []


def held_up(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """Return what tells that the bot reads its memory, and what lets it go on with that."""
    reads, may_read, database = asyncio.Event(), asyncio.Event(), stage.store.database
    read = database.read

    async def late(job: Callable[[Connection], Any]) -> Any:
        reads.set()
        await may_read.wait()
        return await read(job)

    monkeypatch.setattr(database, "read", late)
    return reads, may_read


def acknowledgements(stage: Stage) -> int:
    return sum(each.path.endswith("/callback") for each in stage.world.requests)


async def the_rest() -> None:
    """Return once all that discord.py has begun for interactions has ended."""
    names = ("CommandTree-invoker", "discord-ui-dynamic-item-")
    while left := [each for each in asyncio.all_tasks() if each.get_name().startswith(names)]:
        await asyncio.wait(left)
