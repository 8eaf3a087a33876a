"""Asking again with the buttons of an answer."""

import asyncio
from collections.abc import Mapping
from typing import Any

from bot.events import Ask, TurnEndedEvent, UserMessageEvent
from bot.frontend.control import BUSY, NOT_LATEST, NOT_YOURS
from bot.frontend.rate import TOO_FAST
from bot.sandbox import Message, Person
from bot.sandbox.answers.answers import first_response
from bot.sandbox.gestures.gestures import click
from bot.sandbox.model import Answer
from tests.e2e.stage import Stage
from tests.setups import labels


async def press(person: Person, message: Message, label: str = "Try again") -> None:
    """Press a button that shows nothing itself: what comes of it comes below."""
    answer = await first_response(click(person, message, label))
    assert not answer.failed


async def messages_of(stage: Stage) -> list[UserMessageEvent]:
    """Return what was asked at the desk."""
    log = await stage.log_of(f"channel-{stage.desk.id}")
    return [each for each in log if isinstance(each, UserMessageEvent)]


async def test_try_again_gives_another_answer_below(stage: Stage) -> None:
    stage.model.says("Five.").then("Four.")
    async with stage.running():
        await stage.alice.says("two and two?", in_=stage.desk)
        five = await stage.says(stage.desk, "Five.")
        assert labels(five) == ["Try again"]
        await press(stage.alice, five)
        four = await stage.says(stage.desk, "Four.")
        assert labels(four) == ["Try again"]
        late = await stage.alice.clicks(five, "Try again")
    assert late.text == NOT_LATEST
    assert late.ephemeral
    assert stage.said(stage.desk) == ["Five.", "Four."]
    assert [role for role, _ in stage.asked[1]] == ["user", "assistant", "user"]
    assert stage.asked[1][1][1] == "Five."
    [_, again] = await messages_of(stage)
    assert again.author is not None
    assert (again.author.user_id, again.author.name) == (f"user-{stage.alice.id}", "alice")


async def test_continue_goes_on_where_the_model_was_cut(stage: Stage) -> None:
    def cut_once(request: Mapping[str, Any]) -> Answer:
        first = len(request["messages"]) == 1
        return Answer("One, two," if first else "three.", finish_reason="length" if first else "")

    stage.model.answers(cut_once)
    async with stage.running():
        await stage.alice.says("count", in_=stage.desk)
        cut = await stage.says(stage.desk, "One, two,")
        assert labels(cut) == ["Continue", "Try again"]
        await press(stage.alice, cut, "Continue")
        rest = await stage.says(stage.desk, "three.")
        assert labels(rest) == ["Try again"]
    assert stage.asked[1][1] == ("assistant", "One, two,")
    [_, again] = await messages_of(stage)
    assert again.asks is Ask.CONTINUE


async def test_a_button_works_after_a_restart_and_once(stage: Stage) -> None:
    stage.model.says("Five.").then("Four.")
    async with stage.running():
        await stage.alice.says("two and two?", in_=stage.desk)
        five = await stage.says(stage.desk, "Five.")
    async with stage.running():
        await press(stage.alice, five)
        await stage.says(stage.desk, "Four.")
    async with stage.running():
        late = await stage.alice.clicks(five, "Try again")
    assert late.text == NOT_LATEST
    assert len(stage.model.requests) == 2


async def test_what_was_asked_by_a_button_is_answered_though_the_process_ended(
    stage: Stage,
) -> None:
    stage.model.says("Five.").hangs(after="Fo")
    stage.model.says("Four.")
    async with stage.running() as client:
        await stage.alice.says("two and two?", in_=stage.desk)
        five = await stage.says(stage.desk, "Five.")
        await press(stage.alice, five)
        await stage.desk.until(lambda messages: len(messages) == 3)
        await stage.kill(client)
    async with stage.running():
        await stage.says(stage.desk, "Four.")
    assert stage.said(stage.desk) == ["Five.", "Four."]


async def test_two_clicks_at_once_make_one_turn(stage: Stage) -> None:
    stage.model.says("Five.").then("Four.")
    async with stage.running():
        await stage.alice.says("two and two?", in_=stage.desk)
        five = await stage.says(stage.desk, "Five.")
        first, second = click(stage.alice, five, "Try again"), click(stage.alice, five, "Try again")
        answers = await asyncio.gather(first_response(first), first_response(second))
        await stage.says(stage.desk, "Four.")
        await answers[0].until(lambda _: any(each.text for each in answers))
    assert [each.text in (BUSY, NOT_LATEST) for each in answers if each.text] == [True]
    assert len(await messages_of(stage)) == 2
    assert len(stage.model.requests) == 2


async def test_an_older_answer_and_one_being_written_are_not_asked_about(stage: Stage) -> None:
    stage.model.says("One.")
    gate = stage.model.pauses("Let me", then=" see.")
    async with stage.running():
        await stage.alice.says("one?", in_=stage.desk)
        one = await stage.says(stage.desk, "One.")
        await stage.alice.says("two?", in_=stage.desk)
        await gate.reached.wait()
        busy = await stage.alice.clicks(one, "Try again")
        gate.release()
        await stage.says(stage.desk, "Let me see.")
        late = await stage.alice.clicks(one, "Try again")
    assert (busy.text, late.text) == (BUSY, NOT_LATEST)
    assert len(stage.model.requests) == 2


async def test_nobodys_words_are_asked_again_with_the_rights_of_somebody_else(
    stage: Stage,
) -> None:
    stage.model.says("I cannot.").then("I told you.")
    async with stage.running():
        await stage.bob.says("what is said in #staff?", in_=stage.desk)
        answer = await stage.says(stage.desk, "I cannot.")
        for other in (stage.mod, stage.alice):
            refused = await other.clicks(answer, "Try again")
            assert (refused.text, refused.ephemeral) == (NOT_YOURS, True)
        await press(stage.bob, answer)
        again = await stage.says(stage.desk, "I told you.")
        refused = await stage.mod.clicks(again, "Try again")
    assert refused.text == NOT_YOURS
    assert [each.author and each.author.user_id for each in await messages_of(stage)] == [
        f"user-{stage.bob.id}"
    ] * 2


async def test_who_may_not_talk_here_may_not_ask_again(stage: Stage) -> None:
    stage.model.says("One.")
    async with stage.running(user_ids=frozenset({stage.alice.id})):
        await stage.alice.says("one?", in_=stage.desk)
        one = await stage.says(stage.desk, "One.")
        refused = await stage.bob.clicks(one, "Try again")
    assert refused.text == "You may not talk to me here."
    assert refused.ephemeral
    assert len(stage.model.requests) == 1


async def test_buttons_count_like_messages(stage: Stage) -> None:
    stage.model.says("One.")
    async with stage.running(turns_per_minute=1):
        await stage.alice.says("one?", in_=stage.desk)
        one = await stage.says(stage.desk, "One.")
        refused = await stage.alice.clicks(one, "Try again")
    assert refused.text == TOO_FAST
    assert len(stage.model.requests) == 1


async def test_a_failure_that_may_pass_can_be_tried_again(stage: Stage) -> None:
    stage.model.fails(503).then("Four.")
    async with stage.running():
        await stage.alice.says("two and two?", in_=stage.desk)
        told = await stage.says(stage.desk, "busy or cannot be reached")
        await press(stage.alice, told)
        await stage.says(stage.desk, "Four.")
    log = await stage.log_of(f"channel-{stage.desk.id}")
    assert len([each for each in log if isinstance(each, TurnEndedEvent)]) == 1
    assert stage.asked[1][0][1].endswith("two and two?")


async def test_a_failure_that_stays_has_no_button(stage: Stage) -> None:
    stage.model.fails(401)
    async with stage.running():
        await stage.alice.says("two and two?", in_=stage.desk)
        told = await stage.says(stage.desk, "refused its key")
    assert labels(told) == []


async def test_in_a_direct_message_too(stage: Stage) -> None:
    stage.model.says("Five.").then("Four.")
    dm = stage.alice.dm(stage.bot)
    async with stage.running():
        await stage.alice.says("two and two?", in_=dm)
        five = await stage.says(dm, "Five.")
        await press(stage.alice, five)
        await stage.says(dm, "Four.")


async def test_buttons_can_be_left_out(stage: Stage) -> None:
    stage.model.says("One.")
    async with stage.running(answer_buttons=False):
        await stage.alice.says("one?", in_=stage.desk)
        one = await stage.says(stage.desk, "One.")
    assert labels(one) == []


async def test_editing_or_deleting_a_message_that_was_recorded_changes_nothing(
    stage: Stage,
) -> None:
    stage.model.says("Hello Alice.").then("You told me.")
    async with stage.running():
        said = await stage.alice.says("I am Alice", in_=stage.desk)
        await stage.says(stage.desk, "Hello Alice.")
        await stage.alice.edits(said, "I am Bob")
        await stage.alice.deletes(said)
        await stage.alice.says("who am I?", in_=stage.desk)
        await stage.says(stage.desk, "You told me.")
    assert stage.asked[1][0][1].endswith("I am Alice")
    assert stage.said(stage.desk) == ["Hello Alice.", "You told me."]
