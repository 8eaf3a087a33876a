"""Discord fails or refuses in the middle: what people should see arrives, once, or is told."""

import asyncio
from itertools import product
from typing import Any

import pytest

from bot.sandbox import Gate, Place, Refusal
from tests.e2e.stage import PATIENCE, Stage, logged
from tests.setups import labels

LONG = "".join(f"This is sentence number {number}.\n" for number in range(300))  # five messages


FAILURES: list[dict[str, Any]] = [{"fails": 500}, {"fails": 503}, {"resets": True}]


def whole(stage: Stage, place: Place | None = None) -> str:
    return "".join(stage.said(place or stage.desk)).replace("\n", "")


async def test_a_limit_that_is_met_in_the_middle_drops_no_part(stage: Stage) -> None:
    desks = stage.desks(5)
    async with stage.running():
        for skip, desk in enumerate(desks):
            stage.model.says(LONG)
            stage.world.faults.next_send(in_=desk, fails=429, retry_after=0.2, skip=skip)
            await stage.alice.says("tell me everything", in_=desk)
            await stage.says(desk, "number 299.")
            assert len(stage.said(desk)) == 5, skip
            assert whole(stage, desk) == LONG.replace("\n", ""), skip


async def test_a_limit_without_a_word_of_json_is_waited_out(stage: Stage) -> None:
    stage.model.says("Here it is.")
    async with stage.running():
        stage.world.faults.blocks_everyone(0.5)
        await stage.alice.says("what is it?", in_=stage.desk)
        await stage.says(stage.desk, "Here it is.")
    assert stage.said(stage.desk) == ["Here it is."]


@pytest.mark.parametrize("how", FAILURES, ids=str)
async def test_a_send_that_fails_is_one_message(stage: Stage, how: dict[str, Any]) -> None:
    desks = stage.desks(4)
    async with stage.running():
        for desk, (after_effect, skip) in zip(desks, product((False, True), (0, 2)), strict=True):
            stage.model.says(LONG)
            fault = stage.world.faults.next_send(
                in_=desk, after_effect=after_effect, skip=skip, **how
            )
            await stage.alice.says("tell me everything", in_=desk)
            await stage.says(desk, "number 299.")
            assert fault.hits == 1, (after_effect, skip)
            assert len(stage.said(desk)) == 5, (after_effect, skip)
            assert whole(stage, desk) == LONG.replace("\n", ""), (after_effect, skip)


@pytest.mark.parametrize("how", FAILURES[1:], ids=str)
async def test_a_card_whose_send_fails_is_one_card(stage: Stage, how: dict[str, Any]) -> None:
    stage.model.says(calls=[("delete_file", {"path": "old.txt"})]).then("It is gone.")
    stage.world.faults.next_send(in_=stage.desk, after_effect=True, **how)
    async with stage.running():
        await stage.alice.says("delete old.txt", in_=stage.desk)
        await stage.mod.clicks(await stage.says(stage.desk, "May I run"), "Approve")
        await stage.says(stage.desk, "It is gone.")
    assert len(stage.said(stage.desk)) == 2
    assert stage.tools.done == ["deleted old.txt"]


async def test_an_edit_that_fails_is_made_again(stage: Stage) -> None:
    desks = stage.desks(len(FAILURES))
    async with stage.running():
        for how, desk in zip(FAILURES, desks, strict=True):
            gate = stage.model.pauses("Once upon", " a time")
            await stage.alice.says("a story please", in_=desk)
            await desk.next_message_from(stage.bot)
            await gate.reached.wait()
            fault = stage.world.faults.next_edit(in_=desk, **how)
            gate.release()
            await stage.says(desk, "Once upon a time")
            assert fault.hits == 1, how
            assert stage.said(desk) == ["Once upon a time"], how


@pytest.mark.parametrize("how", FAILURES, ids=str)
async def test_a_thread_whose_opening_fails_is_one_thread(
    stage: Stage, how: dict[str, Any]
) -> None:
    threads = []
    async with stage.running():
        for after_effect in (False, True):
            stage.model.says("Here I am.")
            stage.world.faults.next_thread(after_effect=after_effect, **how)
            opening = await stage.alice.says(f"{stage.bot.mention} where?", in_=stage.general)
            threads.append(await stage.thread_on(opening))
            await stage.says(threads[-1], "Here I am.")
    assert stage.guild.threads == threads
    assert stage.said(stage.general) == []


async def test_a_question_deleted_before_its_answer_is_answered_without_it(stage: Stage) -> None:
    gate = stage.model.pauses("", LONG)
    async with stage.running():
        question = await stage.alice.says("tell me everything", in_=stage.desk)
        await gate.reached.wait()
        await stage.alice.deletes(question)
        gate.release()
        await stage.says(stage.desk, "number 299.")
    assert whole(stage) == LONG.replace("\n", "")


async def test_a_permission_lost_in_the_middle_is_told_and_the_rest_comes_later(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    gate = stage.model.pauses("", LONG)
    stage.model.then("Now?")
    async with stage.running():
        await stage.alice.says("tell me everything", in_=stage.desk)
        await gate.reached.wait()
        stage.world.loses_permission(stage.bot, "SEND_MESSAGES", in_=stage.desk)
        gate.release()
        told = await stage.says(stage.alice.dm(stage.bot), "I cannot answer in")
        stage.world.regains_permission(stage.bot, "SEND_MESSAGES", in_=stage.desk)
        await stage.alice.says("and now?", in_=stage.desk)
        await stage.says(stage.desk, "Now?")
    assert "I am missing a permission here: Send Messages" in told.content
    assert "I am missing a permission here: Send Messages" in caplog.text
    assert whole(stage) == LONG.replace("\n", "") + "Now?"


@pytest.mark.parametrize(("archived", "why"), [(False, "locked"), (True, "archived")])
async def test_a_locked_thread_is_told_in_its_channel_once(
    stage: Stage, archived: bool, why: str
) -> None:
    gate = stage.model.pauses("", "Lost.")
    async with stage.running():
        opening = await stage.alice.says(f"{stage.bot.mention} hello", in_=stage.general)
        thread = await stage.thread_on(opening)
        await gate.reached.wait()
        thread.lock(archived=archived)
        gate.release()
        told = await stage.says(stage.general, f"I cannot answer in {thread.mention}")
    assert f"this thread is {why}" in told.content
    assert stage.said(thread) == []
    assert len(stage.said(stage.general)) == 1


async def test_closed_dms_are_named_in_the_log(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    gate = stage.model.pauses("", "Lost.")
    dm = stage.alice.dm(stage.bot)
    async with stage.running():
        await stage.alice.says("hello", in_=dm)
        await gate.reached.wait()
        stage.world.dms_closed.add(stage.alice)
        gate.release()
        await logged(caplog, "takes no direct messages")
    assert stage.said(dm) == []
    assert f"cannot write in dm-{dm.id}" in caplog.text


async def test_a_service_that_breaks_off_leaves_a_half_and_a_line(stage: Stage) -> None:
    stage.model.breaks_after("Let me think")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "(reference ")
        await stage.desk.until(lambda found: [*map(labels, found)] == [[], [], ["Try again"]])
        async with asyncio.timeout(PATIENCE):
            while any(task.get_name() == "typing" for task in asyncio.all_tasks()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    half, line = stage.said(stage.desk)
    assert half == "Let me think"
    assert line.startswith("The model service is busy or cannot be reached.")


async def test_a_file_that_is_too_large_leaves_the_text_with_a_note(stage: Stage) -> None:
    stage.model.says(calls=[("delete_file", {"path": "x" * 3000})]).then("It is gone.")
    async with stage.running():
        await stage.alice.says("delete it", in_=stage.desk)
        card = await stage.says(stage.desk, "attached in full")
        stage.world.faults.next_edit(of=card, fails=Refusal.TOO_LARGE)
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "It is gone.")
        await card.until(lambda message: "It ran and ended well." in message.content)


@pytest.mark.parametrize(
    ("refusal", "path", "why"),
    [(Refusal.TOO_LARGE, "x" * 3000, "too large"), (Refusal.AUTOMOD, "bad", "AutoMod")],
)
async def test_what_cannot_be_shown_cannot_be_approved(
    stage: Stage, refusal: Refusal, path: str, why: str
) -> None:
    stage.model.says(calls=[("delete_file", {"path": path})]).then("Then not.")
    stage.world.faults.next_send(in_=stage.desk, fails=refusal, times=2)
    async with stage.running():
        await stage.alice.says("delete it", in_=stage.desk)
        await stage.says(stage.desk, "Then not.")
    assert why in stage.said(stage.desk)[0]
    assert "Denied by bot" in stage.said(stage.desk)[0]
    assert "nobody could be asked" in stage.asked[1][-1][1]
    assert stage.tools.done == []


async def test_a_card_that_cannot_be_posted_anywhere_is_denied_and_told(stage: Stage) -> None:
    gate = stage.model.pauses("", "Let me ask.", calls=[("delete_file", {"path": "old.txt"})])
    stage.model.then("Then not.")
    async with stage.running():
        await stage.alice.says("delete old.txt", in_=stage.desk)
        await gate.reached.wait()
        stage.world.loses_permission(stage.bot, "SEND_MESSAGES", in_=stage.desk)
        gate.release()
        told = await stage.says(stage.alice.dm(stage.bot), "I cannot answer in")
        async with asyncio.timeout(PATIENCE):
            while len(stage.asked) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    assert "What I wanted to ask about there does not run." in told.content
    assert "nobody could be asked" in stage.asked[1][-1][1]
    assert stage.tools.done == []


async def test_a_card_in_a_channel_that_was_deleted_is_denied(stage: Stage) -> None:
    gate = stage.model.pauses("", "Let me ask.", calls=[("delete_file", {"path": "old.txt"})])
    stage.model.then("Then not.")
    async with stage.running():
        await stage.alice.says("delete old.txt", in_=stage.desk)
        await gate.reached.wait()
        for path in ("/channels/*/messages", "/channels/*/messages/*"):
            stage.world.faults.next_request("*", path, fails=Refusal.UNKNOWN_CHANNEL, times=None)
        gate.release()
        async with asyncio.timeout(PATIENCE):
            while len(stage.asked) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    assert "the place was deleted" in stage.asked[1][-1][1]


async def test_a_slow_file_keeps_its_place_in_line(stage: Stage) -> None:
    stage.model.answers(lambda request: request["messages"][-1]["content"].splitlines()[1])
    gate = Gate()
    stage.world.faults.next_download(held_by=gate)
    async with stage.running():
        await stage.alice.says("first", in_=stage.desk, attachments=[("a.txt", b"a")])
        await gate.reached()
        await stage.alice.says("second", in_=stage.desk)
        opening = await stage.bob.says(f"{stage.bot.mention} third", in_=stage.general)
        await stage.says(await stage.thread_on(opening), "third")
        gate.release()
        await stage.says(stage.desk, "second")
    assert stage.said(stage.desk) == ["first", "second"]


async def test_reasoning_stays_out_unless_it_is_wanted(stage: Stage) -> None:
    stage.model.answers(lambda _: "<think>Two and two.</think>Four.")
    async with stage.running():
        await stage.alice.says("two and two?", in_=stage.desk)
        await stage.says(stage.desk, "Four.")
    async with stage.running(show_reasoning=True):
        await stage.alice.says("two and two?", in_=stage.desk)
        await stage.desk.until(lambda messages: "||" in messages[-1].content)
    assert stage.said(stage.desk) == ["Four.", "Four.\n-# || Two and two. ||"]


async def test_long_code_ends_as_a_file(stage: Stage) -> None:
    code = "print('hello, world')\n" * 300
    stage.model.says(f"Here it is:\n```python\n{code}```")
    async with stage.running():
        await stage.alice.says("the program please", in_=stage.desk)
        said = await stage.says(stage.desk, "The code is in the file")
        await stage.desk.until(lambda messages: len(messages) == 2)
    assert said.content == "Here it is:\n-# The code is in the file code.py."
    [file] = said.attachments
    assert (file.filename, file.data.decode()) == ("code.py", code)
