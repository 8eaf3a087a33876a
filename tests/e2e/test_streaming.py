"""An answer that is being written, with the limits of Discord."""

import asyncio
from collections.abc import Sequence

import pytest

from bot.errors import StorageError
from bot.frontend.showing.draft import Subject
from bot.frontend.showing.follower import Follower
from bot.frontend.showing.outbox import Outbox
from bot.frontend.view.shown import Key, Purpose, Shown
from bot.sandbox import REAL_LIMITS, Limits, Rate, Refusal
from bot.sandbox.model.replies import Gate, delta_chunk
from tests.e2e.stage import PATIENCE, Stage, is_written
from tests.e2e.streams import Lags, Paced, dense, refused, shown, words, written


async def answered(stage: Stage, answer: Paced) -> None:
    """Let alice ask, and wait until the whole answer has its last form."""
    stage.model._add(answer)
    async with stage.running():
        await stage.alice.says("tell me", in_=stage.desk)
        await Lags().watch(stage.desk, stage.bot, answer)
        await stage.desk.until(lambda found: not any(is_written(each) for each in found), PATIENCE)


def previewed(stage: Stage) -> float:
    """Return how many edits previews may make at most in the time that the answer took."""
    said = [each for each in stage.desk.messages if each.author is stage.bot]
    times = [each.created_at for each in said] + [at for each in said for at, _ in each.edits]
    return 4 * ((max(times) - min(times)).total_seconds() / 5 + 1)


async def test_a_stream_keeps_within_the_limits_and_ends_exact(stage: Stage) -> None:
    stage.world.limits = REAL_LIMITS
    answer = Paced(tokens=words(300))
    await answered(stage, answer)
    sent, edited = written(stage.world, [stage.desk])
    assert refused(stage.world) == 0
    assert shown(stage.desk, stage.bot) == dense(answer.text)
    assert sent == 1
    assert edited <= previewed(stage) + 1  # the last one


async def test_a_bucket_that_sends_and_edits_share_is_kept_too(stage: Stage) -> None:
    stage.world.limits = Limits(writes=Rate(5, 5.0))
    answer = Paced(tokens=words(200))
    await answered(stage, answer)
    assert refused(stage.world) == 0
    assert shown(stage.desk, stage.bot) == dense(answer.text)


async def test_a_message_that_is_full_is_edited_once_more_and_then_never(stage: Stage) -> None:
    answer = Paced(tokens=words(1080, 8), rate=1080)  # five messages
    await answered(stage, answer)
    said = [each for each in stage.desk.messages if each.author is stage.bot]
    texts = [[text for _, text in each.edits] for each in said]
    sent, edited = written(stage.world, [stage.desk])
    assert shown(stage.desk, stage.bot) == dense(answer.text)
    assert sent == len(said) == 5
    assert all(each.index(each[-1]) == len(each) - 1 for each in texts if each)
    assert edited <= previewed(stage) + 2 * len(said)


async def test_sessions_in_threads_of_one_channel_do_not_share_limits(stage: Stage) -> None:
    stage.world.limits = REAL_LIMITS
    answers = [Paced(tokens=words(100)) for _ in range(4)]
    async with stage.running():
        watches = []
        for answer in answers:
            stage.model._add(answer)
            opening = await stage.alice.says(f"{stage.bot.mention} hi", in_=stage.general)
            thread = await stage.thread_on(opening)
            watches.append(Lags().watch(thread, stage.bot, answer))
        await asyncio.gather(*watches)
    assert refused(stage.world) == 0


async def test_a_tool_at_work_is_told_of_until_the_text_comes(stage: Stage) -> None:
    stage.model.says("", calls=[("slow_job", {})]).then("All done.")
    async with stage.running():
        await stage.alice.says("work", in_=stage.desk)
        line = await stage.desk.next_message_from(stage.bot)
        assert line.content == "-# Using `slow_job`…"
        stage.tools.may_finish.set()
        await line.until(lambda message: message.content == "All done.")
        await line.until(lambda message: not is_written(message))
    assert stage.said(stage.desk) == ["All done."]


async def test_steps_without_a_text_share_one_line(stage: Stage) -> None:
    stage.model.says("", calls=[("slow_job", {})]).then("", calls=[("slow_job", {})])
    stage.model.says("All done.")
    async with stage.running():
        await stage.alice.says("work", in_=stage.desk)
        await stage.desk.next_message_from(stage.bot)
        stage.tools.may_finish.set()
        await stage.says(stage.desk, "All done.")
    assert stage.said(stage.desk) == ["All done."]
    assert written(stage.world, [stage.desk])[0] == 1


async def test_a_turn_that_is_stopped_takes_the_line_away(stage: Stage) -> None:
    stage.model.says("", calls=[("slow_job", {})])
    async with stage.running():
        await stage.alice.says("work", in_=stage.desk)
        line = await stage.desk.next_message_from(stage.bot)
        await stage.alice.clicks(line, "Stop")
        await stage.says(stage.desk, "Stopped.")
        await line.until(lambda message: message.deleted)
    assert stage.said(stage.desk) == ["Stopped."]


async def test_a_turn_that_begins_to_wait_takes_the_line_away(stage: Stage) -> None:
    calls = [("slow_job", {}), ("delete_file", {"path": "x"})]
    stage.model.says("", calls=calls)
    async with stage.running():
        await stage.alice.says("work", in_=stage.desk)
        card = await stage.desk.next_message_from(stage.bot)
        line = await stage.desk.next_message_from(stage.bot)
        assert line.content == "-# Using `slow_job`…"
        stage.tools.may_finish.set()
        await line.until(lambda message: message.deleted)
    assert stage.said(stage.desk) == [card.content]


async def test_an_answer_after_a_wait_that_was_over_at_once_is_streamed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that waited goes on by itself: its line was taken away meanwhile."""
    may_go_on, follow = asyncio.Event(), Follower._tools

    async def late(follower: Follower, turn_id: str) -> Sequence[str]:
        if stage.tools.may_finish.is_set():
            await may_go_on.wait()
        return await follow(follower, turn_id)

    monkeypatch.setattr(Follower, "_tools", late)
    stage.model.says(calls=[("long_job", {"name": "one"}), ("delete_file", {"path": "a.txt"})])
    gate = stage.model.pauses("Both are", then=" done.")
    async with stage.running():
        await stage.alice.says("do both", in_=stage.desk)
        await stage.desk.until(lambda found: len(found) == 3)
        await stage.mod.clicks(stage.desk.messages[1], "Approve")
        await stage.desk.until(lambda found: is_written(found[-1]))
        stage.tools.may_finish.set()
        await stage.desk.until(lambda found: not any(is_written(each) for each in found))
        await stage.mod.clicks(stage.desk.messages[2], "Approve")
        may_go_on.set()
        await stage.desk.until(lambda found: found[-1].content.startswith("Both are"))
        gate.release()
        await stage.says(stage.desk, "Both are done.")


async def test_a_run_does_not_end_for_what_cannot_be_shown_of_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is away for a moment, and just then an event is to be shown."""
    away, read = iter([True]), Follower._subject

    async def failing(follower: Follower, turn_id: str) -> Subject:
        if next(away, False):
            raise StorageError("the database is away for a moment")
        return await read(follower, turn_id)

    monkeypatch.setattr(Follower, "_subject", failing)
    gate = stage.model.pauses("The job is", then=" done.")
    async with stage.running():
        await stage.alice.says("work", in_=stage.desk)
        await gate.reached.wait()
        gate.release()
        await stage.says(stage.desk, "The job is done.")
    assert stage.said(stage.desk) == ["The job is done."]


async def test_a_line_that_a_killed_bot_left_is_gone_or_the_answer(stage: Stage) -> None:
    stage.model.says("", calls=[("slow_job", {})])
    async with stage.running() as client:
        await stage.alice.says("work", in_=stage.desk)
        line = await stage.desk.next_message_from(stage.bot)
        await stage.kill(client)
    stage.model.says("I do not know.")
    async with stage.running():
        await stage.says(stage.desk, "I do not know.")
        await line.until(lambda message: message.deleted or not is_written(message))
    assert stage.said(stage.desk) == ["I do not know."]


async def test_a_line_that_a_killed_bot_left_goes_with_its_turn(stage: Stage) -> None:
    stage.model.says("", calls=[("slow_job", {})])
    async with stage.running() as client:
        await stage.alice.says("work", in_=stage.desk)
        line = await stage.desk.next_message_from(stage.bot)
        await stage.kill(client)
    stage.model.fails(400)
    async with stage.running():
        await line.until(lambda message: message.deleted)
    assert len(stage.said(stage.desk)) == 1  # what went wrong


async def test_the_edit_that_takes_the_last_of_a_limit_holds_nothing_up(stage: Stage) -> None:
    stage.world.limits = Limits(edits=Rate(1, 3600.0))  # the next one may go in an hour
    key = Key("turn-1", "m0", Purpose.ANSWER)
    async with stage.running() as client:
        outbox = Outbox(client)
        message_id = await outbox.send(stage.desk.id, Shown(key=key, content="a"), nonce="1")
        await outbox.edit(stage.desk.id, message_id, Shown(key=key, content="b"))
    assert stage.said(stage.desk) == ["b"]


async def test_a_preview_that_is_refused_ends_softly_and_the_answer_comes(stage: Stage) -> None:
    refused_edit = stage.world.faults.next_edit(in_=stage.desk, fails=Refusal.MISSING_PERMISSIONS)
    seen, edited = Gate(), Gate()
    said = [delta_chunk({"content": text}) for text in ("Let me see,", " it is", " four.")]
    end = delta_chunk({}, "stop")
    stage.model.chunks([said[0], seen, said[1], edited, said[2], end, "[DONE]"])
    async with stage.running():
        await stage.alice.says("two and two?", in_=stage.desk)
        preview = await stage.desk.next_message_from(stage.bot)
        seen.release()
        await stage.world.pulse.until(
            lambda: refused_edit.hits or None, PATIENCE, lambda: "no edit"
        )
        edited.release()
        await preview.until(lambda message: message.content == "Let me see, it is four.")
    assert stage.said(stage.desk) == ["Let me see, it is four."]
