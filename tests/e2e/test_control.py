"""Stopping, resetting, and failing in the open."""

from bot.frontend.control import UNDO_WORKS
from bot.sandbox import Overwrite
from tests.e2e.stage import PATIENCE, Stage
from tests.setups import labels


async def test_reset_forgets_when_idle(stage: Stage) -> None:
    stage.model.says("Hello Alice.").then("I do not know.")
    async with stage.running():
        await stage.alice.says("I am Alice", in_=stage.desk)
        await stage.says(stage.desk, "Hello Alice.")
        answer = await stage.alice.runs("/reset", in_=stage.desk)
        assert answer.text == f"I have forgotten 1 message of this conversation. {UNDO_WORKS}"
        await stage.says(stage.desk, "began the conversation anew")
        await stage.alice.says("who am I?", in_=stage.desk)
        await stage.says(stage.desk, "I do not know.")
    assert len(stage.asked[1]) == 1


async def test_reset_in_mid_stream_ends_the_answer(stage: Stage) -> None:
    gate = stage.model.pauses("Once upon", " a time")
    stage.model.then("Hello.")
    async with stage.running():
        await stage.alice.says("a story please", in_=stage.desk)
        story = await stage.desk.next_message_from(stage.bot)
        await gate.reached.wait()
        await stage.alice.runs("/reset", in_=stage.desk)
        await stage.says(stage.desk, "began the conversation anew")
        gate.release()
        await stage.alice.says("hi", in_=stage.desk)
        await stage.says(stage.desk, "Hello.")
    assert story.content == "Once upon"
    assert story.buttons == []
    assert len(stage.asked[1]) == 1


async def test_stop_ends_the_answer_and_keeps_what_was_said(stage: Stage) -> None:
    gate = stage.model.pauses("Once upon", " a time")
    stage.model.then("Next.")
    async with stage.running():
        await stage.alice.says("a story please", in_=stage.desk)
        story = await stage.desk.next_message_from(stage.bot)
        await gate.reached.wait()
        answer = await stage.alice.runs("/stop", in_=stage.desk)
        assert answer.text == "Stopped."
        await story.until(lambda message: not message.buttons)
        await stage.alice.says("go on", in_=stage.desk)
        await stage.says(stage.desk, "Next.")
    assert story.content == "Once upon"
    assert len(stage.said(stage.desk)) == 3


async def test_the_stop_button_is_for_who_asked_and_for_moderators(stage: Stage) -> None:
    gate = stage.model.pauses("Once upon", " a time")
    async with stage.running():
        await stage.alice.says("a story please", in_=stage.desk)
        story = await stage.desk.next_message_from(stage.bot)
        await gate.reached.wait()
        refused = await stage.bob.clicks(story, "Stop")
        assert refused.text == "Only who asked, or a moderator, may stop this."
        await stage.mod.clicks(story, "Stop")
        await story.until(lambda message: not message.buttons)
        nothing = await stage.mod.runs("/stop", in_=stage.desk)
    assert nothing.text == "There is nothing to stop here."
    assert story.content == "Once upon"


async def test_a_stop_does_not_hold_up_who_is_behind(stage: Stage) -> None:
    gate = stage.model.pauses("Once upon", " a time")
    stage.model.then("Hello bob.")
    async with stage.running():
        await stage.alice.says("a story please", in_=stage.desk)
        await gate.reached.wait()
        await stage.bob.says("hello", in_=stage.desk)
        await stage.alice.runs("/stop", in_=stage.desk)
        await stage.says(stage.desk, "Hello bob.")


async def test_a_reset_cancels_what_waits(stage: Stage) -> None:
    stage.model.says(calls=[("delete_file", {"path": "old.txt"})])
    async with stage.running():
        await stage.alice.says("delete old.txt", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        await stage.alice.runs("/reset", in_=stage.desk)
        await card.until(lambda message: not message.buttons)
        late = await stage.mod.runs("/approve", in_=stage.desk)
    assert "Withdrawn" in card.content
    assert late.text == "Please choose one of the requests that wait here."
    assert stage.tools.done == []


async def test_a_model_error_is_told_in_the_channel(stage: Stage) -> None:
    stage.model.fails(500).then("Better now.")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        told = await stage.says(stage.desk, "The model service is busy or cannot be reached.")
        assert "(reference " in told.content
        await stage.alice.says("again", in_=stage.desk)
        await stage.says(stage.desk, "Better now.")


async def test_a_stream_that_breaks_keeps_what_was_said(stage: Stage) -> None:
    stage.model.breaks_after("Let me think")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "(reference ")
    said = stage.said(stage.desk)
    assert said[0] == "Let me think"
    assert len(said) == 2
    assert [labels(each) for each in stage.desk.messages] == [[], [], ["Try again"]]


async def test_a_half_written_message_that_is_deleted_is_posted_once_more(stage: Stage) -> None:
    gate = stage.model.pauses("Once upon", " a time")
    async with stage.running():
        await stage.alice.says("a story please", in_=stage.desk)
        story = await stage.desk.next_message_from(stage.bot)
        await gate.reached.wait()
        stage.guild.give(stage.mod, stage.guild.role("janitor", permissions=["MANAGE_MESSAGES"]))
        await stage.mod.deletes(story)
        gate.release()
        await stage.says(stage.desk, "Once upon a time")
    assert stage.said(stage.desk) == ["Once upon a time"]


async def test_an_answer_arrives_though_its_question_was_deleted(stage: Stage) -> None:
    gate = stage.model.pauses("", "Here it is.")
    async with stage.running():
        question = await stage.alice.says("what is it?", in_=stage.desk)
        await gate.reached.wait()
        await stage.alice.deletes(question)
        gate.release()
        await stage.says(stage.desk, "Here it is.")


async def test_a_thread_that_cannot_be_written_to_is_told_in_its_channel(stage: Stage) -> None:
    stage.model.says("Lost.").then("Found.")
    mute = {stage.bot: Overwrite.of(deny=["SEND_MESSAGES_IN_THREADS"])}
    hall = stage.guild.channel("hall", overwrites=mute)
    async with stage.running():
        opening = await stage.alice.says("look here", in_=hall)
        thread = await stage.alice.opens_thread("quiet", on=opening)
        await stage.alice.says(f"{stage.bot.mention} hello", in_=thread)
        told = await stage.says(hall, f"I cannot answer in {thread.mention}")
        assert "Send Messages In Threads" in told.content
        hall.overwrites.clear()
        await stage.alice.says("and now?", in_=thread)
        await stage.says(thread, "Found.")
    assert stage.said(thread) == ["Lost.", "Found."]


async def test_typing_shows_while_it_works_and_not_while_it_waits(stage: Stage) -> None:
    gate = stage.model.pauses("", "Done.")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await gate.reached.wait()
        await stage.world.pulse.until(
            lambda: True if stage.desk.typists else None, PATIENCE, lambda: "nobody types"
        )
        gate.release()
        await stage.says(stage.desk, "Done.")
    assert [user for user, _ in stage.desk.typists] == [stage.bot]
