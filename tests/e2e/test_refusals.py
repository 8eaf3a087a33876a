"""What is not allowed, and what fails, is told in words where people can read it."""

import sqlite3

import pytest

from bot.frontend.commands.interactions import NOT_DONE
from bot.sandbox import Overwrite
from tests.e2e.stage import Stage


def break_database(stage: Stage) -> None:
    """Make the log unreadable while the bot runs."""
    with sqlite3.connect(stage.database) as connection:
        connection.execute("ALTER TABLE events RENAME TO gone")
    connection.close()


async def test_a_channel_that_cannot_be_written_to_is_told_to_who_asked(stage: Stage) -> None:
    stage.model.says("Lost.")
    stage.desk.overwrites[stage.bot] = Overwrite.of(deny=["SEND_MESSAGES"])
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        dm = stage.alice.dm(stage.bot)
        told = await stage.says(dm, f"I cannot answer in {stage.desk.mention}")
    assert "Send Messages" in told.content
    assert stage.said(stage.desk) == []


async def test_a_log_that_cannot_be_written_is_told(stage: Stage) -> None:
    stage.model.says("Hello.")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Hello.")
        break_database(stage)
        await stage.alice.says("hello again", in_=stage.desk)
        await stage.says(stage.desk, "I cannot read or write my memory right now")


async def test_a_command_that_fails_is_told_with_a_reference(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.model.says("Hello.")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Hello.")
        break_database(stage)
        answer = await stage.alice.runs("/reset", in_=stage.desk)
    assert answer.text.startswith(f"{NOT_DONE} (reference ")
    assert answer.text.split()[-1].rstrip(").") in caplog.text


async def test_a_click_that_fails_is_told_with_a_reference(stage: Stage) -> None:
    stage.model.says(calls=[("delete_file", {"path": "old.txt"})])
    async with stage.running():
        await stage.alice.says("delete old.txt", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        break_database(stage)
        answer = await stage.mod.clicks(card, "Approve")
    assert answer.text.startswith(f"{NOT_DONE} (reference ")


async def test_a_file_that_cannot_be_kept_is_told_with_a_reference(stage: Stage) -> None:
    async with stage.running():
        with sqlite3.connect(stage.database) as connection:
            connection.execute("ALTER TABLE blobs RENAME TO gone")
        connection.close()
        await stage.alice.says("read", in_=stage.desk, attachments=[("a.txt", b"milk")])
        await stage.says(stage.desk, "I cannot read or write my memory right now")


async def test_a_message_that_cannot_be_taken_is_told_with_a_reference(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object) -> str:
        raise ValueError("broken")

    with monkeypatch.context() as patch:
        patch.setattr("bot.frontend.reading.message.readable", broken)
        async with stage.running():
            await stage.alice.says("hello", in_=stage.desk)
            await stage.says(stage.desk, "I could not take this message (reference ")
    stage.model.answers(lambda _: "Hello again.")
    async with stage.running():  # what is said now is heard after what may have been missed
        await stage.alice.says("hello again", in_=stage.desk)
        await stage.says(stage.desk, "Hello again.")
    assert len(stage.said(stage.desk)) == 2


async def test_a_click_that_comes_too_late_does_nothing(stage: Stage) -> None:
    stage.model.says(calls=[("delete_file", {"path": "old.txt"})])
    async with stage.running() as client:
        await stage.alice.says("delete old.txt", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        stage.world.ack_timeout = 0.0
        answer = await stage.mod.clicks(card, "Approve")
        assert answer.failed
        assert (await stage.mod.runs("/approve", in_=stage.desk)).failed
        assert len(await client.agent.pending(f"channel-{stage.desk.id}")) == 1
    assert stage.tools.done == []


async def test_only_who_may_talk_may_reset(stage: Stage) -> None:
    stage.model.says("Hello.")
    async with stage.running(user_ids=frozenset({stage.alice.id})):
        await stage.bob.says("hello", in_=stage.desk)
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Hello.")
        refused = await stage.bob.runs("/reset", in_=stage.desk)
        nothing = await stage.alice.runs("/reset", in_=stage.general)
    assert refused.text == "You may not talk to me here."
    assert nothing.text == "There is no conversation here yet."
    assert stage.said(stage.desk) == ["Hello."]


async def test_a_request_that_nobody_made_is_unknown(stage: Stage) -> None:
    async with stage.running():
        answers = [
            (await stage.mod.runs(command, in_=stage.desk, request="approval-1")).text
            for command in ("/approve", "/deny")
        ]
    assert answers == ["I know of no such request here."] * 2


async def test_the_applications_owner_decides_anywhere(stage: Stage) -> None:
    stage.model.says(calls=[("delete_file", {"path": "old.txt"})]).then("It is gone.")
    owner = stage.world.developer
    stage.guild.join(owner)
    async with stage.running():
        await stage.alice.says("delete old.txt", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        await owner.clicks(card, "Approve")
        await stage.says(stage.desk, "It is gone.")


async def test_who_has_to_wait_for_the_model_is_told_so(stage: Stage) -> None:
    stage.max_model_calls = 1
    gate = stage.model.pauses("", "First.")
    stage.model.then("Second.")
    async with stage.running():
        await stage.alice.says("one", in_=stage.desk)
        await gate.reached.wait()
        dm = stage.bob.dm(stage.bot)
        await stage.bob.says("two", in_=dm)
        note = await dm.next_message_from(stage.bot)
        assert note.content == "*One moment: I am answering others first.*"
        gate.release()
        await note.until(lambda message: message.content == "Second.")
    assert stage.said(dm) == ["Second."]


async def test_a_note_goes_when_the_turn_is_stopped(stage: Stage) -> None:
    stage.max_model_calls = 1
    gate = stage.model.pauses("", "First.")
    async with stage.running():
        await stage.alice.says("one", in_=stage.desk)
        await gate.reached.wait()
        dm = stage.bob.dm(stage.bot)
        await stage.bob.says("two", in_=dm)
        note = await dm.next_message_from(stage.bot)
        await stage.bob.clicks(note, "Stop")
        await stage.says(dm, "Stopped.")
        await note.until(lambda message: message.deleted)
        gate.release()
        await stage.says(stage.desk, "First.")
    assert stage.said(dm) == ["Stopped."]


async def test_a_mention_heard_twice_opens_one_thread(stage: Stage) -> None:
    stage.model.says("Once.")
    async with stage.running() as client:
        question = await stage.alice.says(f"{stage.bot.mention} how often?", in_=stage.general)
        thread = await stage.thread_on(question)
        await stage.says(thread, "Once.")
        channel = client.get_channel(stage.general.id)
        again = await channel.fetch_message(question.id)  # type: ignore[union-attr]
        await client.on_message(again)
    assert stage.said(thread) == ["Once."]
    assert stage.guild.threads == [thread]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"channel": "nowhere", "text": "hi"}, "There is no channel 'nowhere'"),
        ({"channel": "desk", "text": " "}, "Invalid arguments: text"),
        ({"channel": "desk", "text": "x" * 2001}, "at most 2000 characters"),
    ],
)
async def test_an_announcement_that_cannot_be_is_told_to_the_model(
    stage: Stage, arguments: dict[str, str], why: str
) -> None:
    stage.model.says(calls=[("announce", arguments)]).then("Sorry.")
    async with stage.running():
        await stage.alice.says("announce it", in_=stage.desk)
        await stage.says(stage.desk, "Sorry.")
    assert stage.said(stage.desk) == ["Sorry."]
    assert why in stage.asked[1][-1][1]


async def test_nothing_is_announced_from_a_dm(stage: Stage) -> None:
    stage.model.says(calls=[("announce", {"channel": "desk", "text": "hi"})]).then("Sorry.")
    dm = stage.alice.dm(stage.bot)
    async with stage.running(owner_ids=frozenset({stage.alice.id})):
        await stage.alice.says("announce it", in_=dm)
        await stage.says(dm, "Sorry.")
    assert "only in a server" in stage.asked[1][-1][1]
