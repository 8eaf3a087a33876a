"""Settings of how things look that change while a session is being shown, or have just changed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from bot.frontend import Operator, ParleyClient, SettingsBook
from bot.frontend.settings import book as module
from bot.sandbox import Message
from bot.sandbox.model.replies import Gate as ModelGate
from bot.sandbox.timing.gates import Gate
from bot.sessions import SQLiteSessionManager
from bot.sessions.stores.settings import Scope, SettingsStore
from tests.e2e.stage import PATIENCE, Stage
from tests.e2e.test_rest import DELETE, rests, session_id
from tests.setups import labels


@asynccontextmanager
async def an_answer_before_a_card(
    stage: Stage,
) -> AsyncIterator[tuple[ParleyClient, Message, ModelGate]]:
    """Show an answer that is looked at again with the card that comes once the model goes on.

    Both had to wait for the same decision.
    """
    stage.model.says(calls=[DELETE]).then("Not deleted.").then("One.")
    gate = stage.model.pauses(calls=[DELETE])
    async with stage.running() as client:
        await stage.alice.says("delete old.txt", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        await stage.bob.says("and me?", in_=stage.desk)
        await stage.desk.until(lambda _: _told_to_wait(stage) == 1)
        await stage.alice.says("and me?", in_=stage.desk)
        await stage.desk.until(lambda _: _told_to_wait(stage) == 2)
        await stage.mod.clicks(card, "Deny")
        answer = await stage.says(stage.desk, "One.")
        await gate.reached.wait()
        assert labels(answer) == ["Try again"]
        yield client, answer, gate


def _told_to_wait(stage: Stage) -> int:
    return sum("This waits for" in each for each in stage.said(stage.desk))


async def set_buttons(stage: Stage, book: SettingsBook, shown: bool) -> None:
    await book.change(
        Scope(stage.guild.id),
        "answer_buttons",
        f"user-{stage.mod.id}",
        lambda own: replace(own, answer_buttons=shown),
    )


async def test_a_change_while_a_session_is_being_shown_is_shown_too(stage: Stage) -> None:
    async with an_answer_before_a_card(stage) as (client, answer, model):
        model.release()
        await stage.says(stage.desk, "May I run")
        await client._parts.work.finish(PATIENCE)
        await client._parts.showing.finish(PATIENCE)
        editing = Gate()
        stage.world.faults.next_edit(of=answer, held_by=editing, after_effect=True)
        await set_buttons(stage, client.settings, False)
        client._parts.reconciler.wake(session_id(stage))
        await editing.reached()
        assert not answer.buttons
        await set_buttons(stage, client.settings, True)
        editing.release()
        await answer.until(lambda message: message.buttons != [])
    assert await rests(stage)


async def test_what_another_process_has_just_changed_is_shown(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FRESH", 3600.0)
    async with an_answer_before_a_card(stage) as (_, answer, model):
        other = SQLiteSessionManager(stage.database)
        book = SettingsBook(SettingsStore(other.database), Operator(options=stage.options))
        await set_buttons(stage, book, False)
        await other.close()
        model.release()
        await answer.until(lambda message: not message.buttons)
    assert await rests(stage)
