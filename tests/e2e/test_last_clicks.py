"""What somebody commands, clicks or sends off while the bot ends: acknowledged, it is acted on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from bot.events import ApprovalDecidedEvent, RecordedEvent, ResetEvent
from bot.frontend import Stores
from bot.frontend.tasks import Tasks
from bot.sandbox import Gate, Message
from bot.sessions import SQLiteSessionManager
from tests.e2e.stage import PATIENCE, Stage
from tests.e2e.test_cards import DELETE, asks, opened

Gesture = Callable[[], Coroutine[Any, Any, object]]
Prepare = Callable[[Stage, Message], Awaitable[Gesture]]
Holds = Callable[[Stage], Awaitable[bool]]


@pytest.fixture
def finishing(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set when the front end waits for something to end."""
    event, finish = asyncio.Event(), Tasks.finish

    async def noted(tasks: Tasks, seconds: float) -> bool:
        if tasks._running:
            event.set()
        return await finish(tasks, seconds)

    monkeypatch.setattr(Tasks, "finish", noted)
    return event


async def approving(stage: Stage, _: Message) -> Gesture:
    return lambda: stage.mod.runs("/approve", in_=stage.desk)


async def clicking(stage: Stage, card: Message) -> Gesture:
    return lambda: stage.mod.clicks(card, "Approve")


async def sending_off(stage: Stage, card: Message) -> Gesture:
    form = await opened(stage.mod, card, "Deny with a reason…")
    return lambda: stage.mod.submits(form, reason="we need it")


async def resetting(stage: Stage, _: Message) -> Gesture:
    return lambda: stage.mod.runs("/reset", in_=stage.desk)


async def choosing(stage: Stage, _: Message) -> Gesture:
    panel = (await stage.mod.runs("/settings", in_=stage.desk)).message
    assert panel is not None
    await stage.mod.selects(panel, "What to change", ["Where requests are shown"])
    return lambda: stage.mod.selects(panel, "A channel that approvers read", [stage.general])


async def decided(stage: Stage) -> bool:
    return await is_logged(stage, ApprovalDecidedEvent)


async def was_reset(stage: Stage) -> bool:
    return await is_logged(stage, ResetEvent)


async def is_logged(stage: Stage, kind: type[RecordedEvent]) -> bool:
    log = await stage.log_of(f"channel-{stage.desk.id}")
    return any(isinstance(each, kind) for each in log)


async def was_chosen(stage: Stage) -> bool:
    store = SQLiteSessionManager(stage.database)
    try:
        return bool(await Stores.beside(store).settings.changes(stage.guild.id))
    finally:
        await store.close()


@pytest.mark.parametrize(
    ("prepare", "holds"),
    [
        (approving, decided),
        (clicking, decided),
        (sending_off, decided),
        (resetting, was_reset),
        (choosing, was_chosen),
    ],
)
async def test_it_is_acted_on(
    stage: Stage, finishing: asyncio.Event, prepare: Prepare, holds: Holds
) -> None:
    stage.model.says(calls=[DELETE]).then("I see.")
    async with stage.running(drain_seconds=PATIENCE) as client:
        act = await prepare(stage, await asks(stage))
        gate = Gate()
        stage.world.faults.next_request(
            "POST", "/interactions/*/*/callback", held_by=gate, after_effect=True
        )
        acting = asyncio.create_task(act())
        await gate.reached()
        leaving = asyncio.create_task(client.close())
        waits = asyncio.create_task(finishing.wait())
        await asyncio.wait([leaving, waits], return_when=asyncio.FIRST_COMPLETED)
        gate.release()
        await leaving
        waits.cancel()
        acting.cancel()
    assert await holds(stage)
