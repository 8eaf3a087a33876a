"""A start leaves what merely waits alone, and wakes it in time; whatever else there is it sees."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    Author,
    Decision,
    RecordedEvent,
    UserMessageEvent,
    utc_now,
)
from bot.frontend.settings.look import manner_of
from bot.frontend.shards import Shards
from bot.sandbox import Message, Refusal
from bot.sandbox.timing.gates import Gate
from bot.sessions import SQLiteSessionManager
from bot.sessions.stores.rests import RestStore
from tests.clocks import Clock
from tests.e2e.stage import PATIENCE, Stage
from tests.setups import labels

DELETE = ("delete_file", {"path": "old.txt"})


async def asks(stage: Stage) -> Message:
    """Let alice ask for what waits for a yes; return the card."""
    await stage.alice.says("delete old.txt", in_=stage.desk)
    return await stage.says(stage.desk, "May I run")


def session_id(stage: Stage) -> str:
    return f"channel-{stage.desk.id}"


async def rests(stage: Stage, **options: Any) -> bool:
    """Return whether the next start with these options would leave the desk alone."""
    store = SQLiteSessionManager(stage.database)
    sessions, by = RestStore(store.database), manner_of(replace(stage.options, **options))
    found = [*await sessions.open(by, utc_now()), *await sessions.behind(by, utc_now())]
    resting = await sessions.resting(by, utc_now())
    await store.close()
    assert len(resting) == (0 if found else 1)
    return not found


async def record(stage: Stage, *events: RecordedEvent) -> None:
    """Leave the log as a process that is killed right after this save leaves it."""
    store = SQLiteSessionManager(stage.database)
    session = await store.get(session_id(stage))
    assert session is not None
    session.append(*events)
    await store.save(session)
    await store.close()


async def request_of(stage: Stage) -> ApprovalRequestedEvent:
    log = await stage.log_of(session_id(stage))
    return next(each for each in log if isinstance(each, ApprovalRequestedEvent))


async def test_what_merely_waits_is_left_alone_and_goes_on_by_a_click(stage: Stage) -> None:
    stage.model.says(calls=[DELETE]).then("It is gone.")
    async with stage.running():
        card = await asks(stage)
    assert await rests(stage)
    log = await stage.log_of(session_id(stage))
    async with stage.running(drain_seconds=PATIENCE):
        pass  # closing waits for the recovery
    assert await stage.log_of(session_id(stage)) == log
    async with stage.running():
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "It is gone.")
    assert stage.tools.done == ["deleted old.txt"]


async def test_a_request_expires_by_itself_though_the_start_left_it_alone(
    stage: Stage, bots_clock: Clock
) -> None:
    stage.model.says(calls=[DELETE]).then("Nobody said yes.")
    async with stage.running():
        card = await asks(stage)
    assert await rests(stage)
    async with stage.running():
        bots_clock.advance(stage.approval_ttl)
        await stage.says(stage.desk, "Nobody said yes.")
        await card.until(lambda message: not message.buttons)
    assert stage.tools.done == []


async def test_a_decision_of_which_nothing_followed_is_followed_by_the_next_start(
    stage: Stage,
) -> None:
    stage.model.says(calls=[DELETE]).then("It is gone.")
    async with stage.running():
        await asks(stage)
    request = await request_of(stage)
    yes = ApprovalDecidedEvent(
        approval_id=request.approval_id,
        decision=Decision.APPROVED,
        by=f"user-{stage.mod.id}",
        arguments_hash=request.arguments_hash,
    )
    await record(stage, yes)
    assert not await rests(stage)
    async with stage.running():
        await stage.says(stage.desk, "It is gone.")
    assert stage.tools.done == ["deleted old.txt"]


async def test_who_wrote_behind_the_wait_and_was_not_told_is_told_at_the_next_start(
    stage: Stage,
) -> None:
    stage.model.says(calls=[DELETE])
    async with stage.running():
        await asks(stage)
    bob = Author(user_id=f"user-{stage.bob.id}", name="bob")
    await record(stage, UserMessageEvent(text="and me?", author=bob))
    assert not await rests(stage)
    async with stage.running(drain_seconds=PATIENCE):
        await stage.says(stage.desk, "This waits for a decision")
    assert await rests(stage)


async def test_who_was_told_to_wait_leaves_nothing_to_do(stage: Stage) -> None:
    stage.model.says(calls=[DELETE])
    async with stage.running():
        await asks(stage)
        await stage.bob.says("and me?", in_=stage.desk)
        await stage.says(stage.desk, "This waits for a decision")
    assert await rests(stage)


async def test_a_kill_while_the_card_is_on_its_way_leaves_something_to_do(stage: Stage) -> None:
    stage.model.says(calls=[DELETE])
    gate = Gate()
    stage.world.faults.next_send(in_=stage.desk, held_by=gate, after_effect=True)
    async with stage.running() as client:
        await stage.alice.says("delete old.txt", in_=stage.desk)
        await gate.reached()
        await stage.kill(client)
        gate.release()
    assert not await rests(stage)
    async with stage.running(drain_seconds=PATIENCE):
        await stage.says(stage.desk, "May I run")
    assert len(stage.said(stage.desk)) == 1
    assert await rests(stage)


async def test_a_kill_before_the_denial_of_what_nobody_sees_leaves_something_to_do(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def killed(*_: object) -> None:
        withheld.set()

    withheld = asyncio.Event()
    stage.model.says(calls=[DELETE]).then("Then not.")
    stage.world.faults.next_send(in_=stage.desk, fails=Refusal.UNKNOWN_CHANNEL, times=None)
    async with stage.running() as client:
        monkeypatch.setattr(client.decisions, "withhold", killed)
        await stage.alice.says("delete old.txt", in_=stage.desk)
        await withheld.wait()
    assert not await rests(stage)


async def test_other_looks_or_another_release_are_shown_by_the_next_start(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.model.says(calls=[DELETE])
    async with stage.running():
        await asks(stage)
    assert await rests(stage)
    assert not await rests(stage, answer_buttons=False)
    assert not await rests(stage, show_reasoning=True)
    assert not await rests(stage, approvals_channel=stage.general.id)
    monkeypatch.setattr("bot.frontend.settings.look._release", lambda: "another")
    assert not await rests(stage)
    async with stage.running(drain_seconds=PATIENCE):
        pass
    assert await rests(stage)


@pytest.mark.parametrize("is_ours", [True, False])
async def test_only_who_has_the_shard_wakes_what_waits_there(stage: Stage, is_ours: bool) -> None:
    stage.model.says(calls=[DELETE])
    async with stage.running():
        await asks(stage)
    shard = (stage.guild.id >> 22) % 2
    store = SQLiteSessionManager(stage.database)
    client = stage._client(
        replace(stage.options, shards=Shards(2, frozenset({shard if is_ours else 1 - shard})))
    )
    await client._parts.recovery.recover()
    assert list(client._parts.expiry._timers) == ([session_id(stage)] if is_ours else [])
    client._parts.expiry.close()
    await client.agent.close()
    await store.close()
    assert labels(await stage.says(stage.desk, "May I run"))


async def test_what_comes_due_while_a_start_looks_for_what_is_open_is_woken(stage: Stage) -> None:
    """The clock strikes between the look for what does not rest, and that for what does."""
    stage.model.says(calls=[DELETE])
    async with stage.running():
        await asks(stage)
    request = await request_of(stage)
    before, after = (request.expires_at + timedelta(seconds=each) for each in (-3600, 3600))
    client = stage._client(stage.options)
    clock = iter([before, before, after])
    client._parts.reconciler.now = lambda: next(clock, after)
    await client._parts.recovery.recover()
    assert list(client._parts.expiry._timers) == [session_id(stage)]
    client._parts.expiry.close()
    await client.agent.close()
