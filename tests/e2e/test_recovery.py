"""After a kill: nothing is shown twice, and what was not shown is."""

import sqlite3
from collections.abc import Mapping
from typing import Any

import pytest

from bot.agent import Actor
from bot.sandbox.model import Answer
from tests.e2e.stage import PATIENCE, Stage


def forget_ids(stage: Stage) -> None:
    """Leave the database as a kill between a send and the note of it would."""
    with sqlite3.connect(stage.database) as connection:
        connection.execute("UPDATE deliveries SET message_id = NULL, content_hash = '', final = 0")
        connection.execute("DELETE FROM delivered")
        connection.execute("DELETE FROM behind")
        connection.execute("INSERT INTO behind (session_id) SELECT session_id FROM sessions")
    connection.close()


async def test_a_card_whose_id_was_lost_is_found_by_its_buttons(stage: Stage) -> None:
    stage.model.says(calls=[("delete_file", {"path": "old.txt"})]).then("It is gone.")
    async with stage.running():
        await stage.alice.says("delete old.txt", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
    forget_ids(stage)
    async with stage.running():
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "It is gone.")
        await card.until(lambda message: "It ran" in message.content)
    assert len(stage.said(stage.desk)) == 2


async def test_a_half_written_answer_whose_id_was_lost_is_found_by_its_button(
    stage: Stage,
) -> None:
    stage.model.hangs(after="Let me")
    stage.model.says("Let me see. Four.")
    async with stage.running():
        await stage.alice.says("two and two?", in_=stage.desk)
        preview = await stage.desk.next_message_from(stage.bot)
    forget_ids(stage)
    async with stage.running():
        await preview.until(lambda message: message.content == "Let me see. Four.")
    assert stage.said(stage.desk) == ["Let me see. Four."]


async def test_an_answer_whose_id_was_lost_is_found_by_its_text(stage: Stage) -> None:
    stage.model.says("line\n" * 500).then("Still here.")
    async with stage.running():
        await stage.alice.says("fill the page", in_=stage.desk)
        await stage.desk.until(lambda messages: len(messages) == 3)
    forget_ids(stage)
    async with stage.running():
        await stage.alice.says("and?", in_=stage.desk)
        await stage.says(stage.desk, "Still here.")
    assert len(stage.said(stage.desk)) == 3


async def test_what_was_recorded_and_not_shown_is_shown_at_the_next_start(stage: Stage) -> None:
    stage.model.says("Four.")
    async with stage.running():
        await stage.alice.says("two and two?", in_=stage.desk)
        answer = await stage.says(stage.desk, "Four.")
    forget_ids(stage)
    answer.deleted = True
    async with stage.running():
        await stage.desk.until(lambda messages: len(messages) == 2)
    assert stage.said(stage.desk) == ["Four."]


async def test_a_start_without_anything_open_says_nothing(stage: Stage) -> None:
    stage.model.says("Four.")
    async with stage.running():
        await stage.alice.says("two and two?", in_=stage.desk)
        await stage.says(stage.desk, "Four.")
    before = len(stage.world.requests)
    async with stage.running(drain_seconds=PATIENCE):
        pass  # closing waits for the recovery
    written = [each for each in stage.world.requests[before:] if each.method in {"POST", "PATCH"}]
    assert written == []


async def test_the_same_message_heard_twice_is_answered_once(stage: Stage) -> None:
    stage.model.says("Once.").then("Twice.")
    async with stage.running() as client:
        question = await stage.alice.says("how often?", in_=stage.desk)
        await stage.says(stage.desk, "Once.")
        channel = client.get_channel(stage.desk.id)
        again = await channel.fetch_message(question.id)  # type: ignore[union-attr]
        await client.on_message(again)
        await stage.alice.says("and now?", in_=stage.desk)
        await stage.says(stage.desk, "Twice.")
    assert stage.said(stage.desk) == ["Once.", "Twice."]


def asks_and_tells(request: Mapping[str, Any]) -> Answer:
    """Ask to delete a file, and tell when it was tried."""
    if request["messages"][-1]["role"] == "tool":
        return Answer("That was it.")
    return Answer("Let me ask.", [("delete_file", {"path": "old.txt"})])


@pytest.mark.parametrize("writes", range(1, 8))
async def test_killed_after_any_write_it_shows_everything_once(stage: Stage, writes: int) -> None:
    stage.model.answers(asks_and_tells)
    async with stage.running() as client:
        await stage.alice.says("delete old.txt", in_=stage.desk)
        most = 3 if writes > 3 else 2  # messages; some writes are saved when things go fast
        if writes > 3:
            card = await stage.says(stage.desk, "May I run")
            approval_id = card.buttons[0]["custom_id"].removeprefix("approve:")
            approver = Actor(user_id=f"user-{stage.mod.id}", moderator=True)
            await client.decisions.approve(f"channel-{stage.desk.id}", approval_id, approver)
        await stage.desk.until(
            lambda _: stage.written >= writes or len(stage.said(stage.desk)) == most
        )
        await stage.kill(client)
    async with stage.running():
        card = await stage.says(stage.desk, "delete_file")
        if card.buttons:
            await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "That was it.")
        await card.until(lambda message: "It runs now" not in message.content)
    first, second, third = stage.said(stage.desk)
    assert (first, third) == ("Let me ask.", "That was it.")
    assert "delete_file" in second
    assert len(stage.tools.done) <= 1
