"""What people should see of a log."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import discord

from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    Ask,
    AssistantMessageEvent,
    Attachment,
    Author,
    CompactionDoneEvent,
    Decision,
    RecordedEvent,
    ResetEvent,
    ToolCall,
    ToolResultEvent,
    ToolStatus,
    TurnEndedEvent,
    TurnOutcome,
    UserMessageEvent,
    utc_now,
)
from bot.frontend.ids import message_of
from bot.frontend.view.answers import EMPTY_ANSWER, Look
from bot.frontend.view.shown import Blob, File, Purpose
from bot.frontend.view.view import SUMMARISED, View, view
from bot.sessions import Session

CALL = ToolCall(call_id="c1", tool="delete_file", arguments="{}")


def asked(by: int = 1, source: int = 5) -> UserMessageEvent:
    return UserMessageEvent(
        text="hi", author=Author(user_id=f"user-{by}"), source_id=f"discord-{source}"
    )


def test_what_answers_no_message_is_not_looked_for_among_older_ones() -> None:
    """The same may have been said a month ago, and not be noted any more."""
    scheduled = UserMessageEvent(text="any news?", source_id="schedule-1-20260101T090000")
    [shown] = view(log(scheduled, AssistantMessageEvent(text="None."))).shown
    after = message_of(shown.asked)
    assert after is not None
    written = discord.utils.snowflake_time(after)
    assert scheduled.at - timedelta(days=1) < written < scheduled.at


def request(approval_id: str = "a1") -> ApprovalRequestedEvent:
    return ApprovalRequestedEvent(
        approval_id=approval_id,
        call_id="c1",
        tool="delete_file",
        arguments={"path": "x"},
        arguments_hash="h",
        requested_by="user-1",
        expires_at=utc_now() + timedelta(hours=1),
    )


def decided(decision: Decision = Decision.APPROVED, **more: object) -> ApprovalDecidedEvent:
    return ApprovalDecidedEvent(approval_id="a1", decision=decision, by="user-2", **more)  # type: ignore[arg-type]


def log(*events: RecordedEvent) -> Sequence[RecordedEvent]:
    session = Session("dm-1")
    return session.append(*events)


def seen(*events: RecordedEvent) -> View:
    return view(log(*events))


def texts(found: View) -> list[str]:
    return [each.content for each in found.shown]


def test_nothing_shows_nothing() -> None:
    assert seen() == View(shown=[], closed={}, waiting={}, settled_to=0, expires_at=None)


def test_an_answer_replies_to_what_it_answers() -> None:
    found = seen(asked(source=5), AssistantMessageEvent(text="Hello."))
    [shown] = found.shown
    assert (shown.content, shown.reply_to, shown.final) == ("Hello.", "discord-5", True)
    assert (shown.key.subject, shown.key.purpose, shown.key.part) == ("m0", Purpose.ANSWER, 0)
    assert found.settled_to == 2


def test_each_answer_of_a_turn_has_its_number() -> None:
    found = seen(
        asked(),
        AssistantMessageEvent(text="Let me look.", tool_calls=(CALL,)),
        ToolResultEvent(call_id="c1", status=ToolStatus.OK, output="x"),
        AssistantMessageEvent(text="Found."),
    )
    assert [(each.key.subject, each.content) for each in found.shown] == [
        ("m0", "Let me look."),
        ("m1", "Found."),
    ]


def test_a_long_answer_has_parts_and_only_the_first_replies() -> None:
    found = seen(asked(), AssistantMessageEvent(text="word " * 1000))
    assert [each.key.part for each in found.shown] == [0, 1, 2]
    assert [each.reply_to for each in found.shown] == ["discord-5", None, None]


def test_an_empty_answer_is_said_to_be_empty() -> None:
    assert texts(seen(asked(), AssistantMessageEvent(text="\n\n"))) == [EMPTY_ANSWER]


def test_calls_without_text_show_no_answer() -> None:
    assert texts(seen(asked(), AssistantMessageEvent(text="", tool_calls=(CALL,)))) == []


def test_an_open_turn_is_not_settled() -> None:
    found = seen(asked(), AssistantMessageEvent(text="Hi."), asked())
    assert found.settled_to == 2
    assert len(found.closed) == 1


def test_a_request_is_a_card_with_buttons_until_it_is_decided() -> None:
    gated = AssistantMessageEvent(text="", tool_calls=(CALL,))
    open_card = seen(asked(), gated, asking := request())
    [card] = open_card.shown
    assert [button.label for button in card.buttons] == ["Approve", "Deny", "More…"]
    assert not card.final
    assert open_card.expires_at == asking.expires_at
    running = seen(asked(), gated, request(), decided())
    assert running.shown[0].buttons == ()
    assert "Approved by <@2>" in running.shown[0].content
    assert "It runs now." in running.shown[0].content
    assert running.expires_at is None
    result = ToolResultEvent(call_id="c1", status=ToolStatus.ERROR, output="secret")
    ended = seen(asked(), gated, request(), decided(), result)
    assert ended.shown[0].final
    assert "It ended with an error." in ended.shown[0].content
    assert "secret" not in ended.shown[0].content


def test_a_turn_waits_when_nothing_else_of_it_is_at_work() -> None:
    other = ToolCall(call_id="c2", tool="roll_dice", arguments="{}")
    calls = AssistantMessageEvent(text="", tool_calls=(CALL, other))
    rolled = ToolResultEvent(call_id="c2", status=ToolStatus.OK, output="6")
    assert seen(asked(), calls, request()).waiting == {}
    waiting = seen(asked(source=5), calls, request(), rolled)
    assert list(waiting.waiting.values()) == ["discord-5"]
    assert seen(asked(), calls, request(), rolled, decided()).waiting == {}


def test_every_decision_and_ending_has_its_words() -> None:
    for decision in Decision:
        for status in ToolStatus:
            result = ToolResultEvent(call_id="c1", status=status, output="")
            [card] = seen(
                asked(),
                AssistantMessageEvent(text="", tool_calls=(CALL,)),
                request(),
                decided(decision, reason="so *there*"),
                result,
            ).shown
            assert "so \\*there\\*" in card.content
            assert card.content.count("\n") > 1


def test_edited_arguments_are_those_that_are_shown() -> None:
    [card] = seen(
        asked(),
        AssistantMessageEvent(text="", tool_calls=(CALL,)),
        request(),
        decided(arguments={"path": "edited"}),
    ).shown
    assert '"path": "edited"' in card.content


def test_a_card_of_a_turn_that_ended_undecided_has_no_buttons() -> None:
    card, end = seen(
        asked(),
        AssistantMessageEvent(text="", tool_calls=(CALL,)),
        request(),
        TurnEndedEvent(outcome=TurnOutcome.STOPPED),
    ).shown
    assert card.buttons == ()
    assert "Not decided" in card.content
    assert end.content == "Stopped."


def test_a_failure_is_told_with_its_reference() -> None:
    found = seen(
        asked(),
        AssistantMessageEvent(text="Half", interrupted=True),
        TurnEndedEvent(outcome=TurnOutcome.FAILED, text="It broke.", reference="ab12"),
    )
    assert texts(found) == ["Half", "It broke. (reference ab12)"]
    assert found.settled_to == 3


def test_a_skipped_turn_says_nothing() -> None:
    assert texts(seen(asked(), TurnEndedEvent(outcome=TurnOutcome.SKIPPED))) == []


def test_a_reset_is_told_and_ends_everything() -> None:
    found = seen(asked(), asked(), ResetEvent(by="user-1"))
    assert texts(found) == ["<@1> began the conversation anew."]
    assert found.settled_to == 3


def test_who_writes_while_it_waits_is_told_once_each() -> None:
    events = [
        asked(by=1),
        AssistantMessageEvent(text="", tool_calls=(CALL,)),
        request(),
        asked(by=2),
        asked(by=2),
        asked(by=3),
    ]
    notices = [each for each in seen(*events).shown if each.key.subject == "wait"]
    assert len(notices) == 2
    assert "`delete_file`" in notices[0].content


def test_what_was_told_while_waiting_stays_until_all_of_it_is_settled() -> None:
    session = Session("dm-1")
    [first, *_] = session.append(
        asked(by=1), AssistantMessageEvent(text="", tool_calls=(CALL,)), request(), asked(by=2)
    )
    session.append(
        decided(),
        ToolResultEvent(call_id="c1", status=ToolStatus.OK, output=""),
        AssistantMessageEvent(text="Done."),
    )
    waiting = view(session.events)
    assert waiting.settled_to == first.seq - 1
    session.append(AssistantMessageEvent(text="And you?"))
    settled = view(session.events)
    assert texts(settled)[1:] == [*texts(waiting)[1:], "And you?"]
    assert settled.settled_to == session.last_seq


def test_a_turn_that_began_before_the_stretch_is_not_shown() -> None:
    events = log(asked(), asked(), AssistantMessageEvent(text="One."))
    assert texts(view(events[1:])) == []


def test_a_longer_log_changes_nothing_that_is_settled() -> None:
    events = log(
        asked(),
        AssistantMessageEvent(text="One."),
        asked(),
        AssistantMessageEvent(text="", tool_calls=(CALL,)),
        request(),
        decided(),
        ToolResultEvent(call_id="c1", status=ToolStatus.OK, output=""),
        AssistantMessageEvent(text="Two."),
    )
    whole = {each.key: each for each in view(events).shown}
    for end in range(len(events) + 1):
        for shown in view(events[:end]).shown:
            assert not shown.final or whole[shown.key] == shown


def test_what_came_too_late_is_told_in_one_line_and_waits_for_nothing() -> None:
    late = asked(by=2, source=9)
    session = Session("dm-1")
    session.append(asked(), AssistantMessageEvent(text="", tool_calls=(CALL,)), request())
    end = TurnEndedEvent(turn_id="late", outcome=TurnOutcome.SKIPPED, text="I was away.")
    session.append(replace(late, turn_id="late"), end)
    found = view(session.events)
    assert [each.content for each in found.shown if each.key.purpose is Purpose.NOTICE] == [
        "I was away."
    ]
    assert "late" in found.closed


def test_a_summary_is_told_in_one_quiet_line_and_shortened_texts_are_not() -> None:
    done = CompactionDoneEvent(summary="in short", window_from=1, messages=2)
    shortens = CompactionDoneEvent(summary="", window_from=1, shortened_before=2, shortened_to=99)
    shown = seen(asked(), done, shortens, AssistantMessageEvent(text="hello")).shown
    assert [each.content for each in shown] == [SUMMARISED, "hello"]
    assert shown[0].content.startswith("-# ")
    assert shown[0].key.purpose is Purpose.NOTICE


def labels(found: View) -> list[list[str]]:
    return [[button.label for button in each.buttons] for each in found.shown]


def test_the_last_message_of_an_answer_has_a_button_to_try_again() -> None:
    found = seen(asked(), AssistantMessageEvent(text="word " * 1000))
    assert labels(found) == [[], [], ["Try again"]]
    turn_id = found.shown[0].key.turn_id
    assert found.shown[2].buttons[0].custom_id == f"retry:{turn_id}"


def test_an_answer_cut_at_the_models_limit_can_be_continued() -> None:
    found = seen(asked(), AssistantMessageEvent(text="One,", finish_reason="length"))
    assert labels(found) == [["Continue", "Try again"]]


def test_what_is_no_final_answer_has_no_buttons() -> None:
    found = seen(
        asked(),
        AssistantMessageEvent(text="Let me look.", tool_calls=(CALL,)),
        ToolResultEvent(call_id="c1", status=ToolStatus.OK, output="x"),
        AssistantMessageEvent(text="Half", interrupted=True),
        TurnEndedEvent(outcome=TurnOutcome.STOPPED),
    )
    assert labels(found) == [[], [], []]


def test_a_failure_has_the_button_that_helps() -> None:
    for code, expected in (
        ("model_unavailable", ["Try again"]),
        ("too_many_steps", ["Continue"]),
        ("model_refused", []),
    ):
        ended = TurnEndedEvent(outcome=TurnOutcome.FAILED, code=code, text="It broke.")
        assert labels(seen(asked(), ended)) == [expected]


def test_buttons_are_left_out_where_they_are_not_wanted() -> None:
    events = log(
        asked(),
        AssistantMessageEvent(text="One."),
        asked(),
        TurnEndedEvent(outcome=TurnOutcome.FAILED, code="model_unavailable"),
    )
    assert labels(view(events, Look(buttons=False))) == [[], []]


def test_what_a_button_asked_for_replies_to_nothing_and_comes_after_the_question() -> None:
    session = Session("dm-1")
    first, _ = session.append(asked(source=5), AssistantMessageEvent(text="One."))
    again = UserMessageEvent(text="again", asks=Ask.RETRY, about=first.turn_id)
    session.append(again, AssistantMessageEvent(text="Two."))
    one, two = view(session.events).shown
    assert (one.reply_to, one.asked) == ("discord-5", "discord-5")
    assert (two.reply_to, two.asked) == (None, "discord-5")
    [alone] = view(session.since(3)).shown
    assert (alone.reply_to, message_of(alone.asked) is None) == (None, False)


def test_an_answer_that_is_one_long_block_of_code_is_a_file() -> None:
    code = "print('hello, world')\n" * 200
    [shown] = seen(asked(), AssistantMessageEvent(text=f"Here:\n```python\n{code}```")).shown
    assert shown.content == "Here:\n-# The code is in the file code.py."
    assert shown.files == (File("code.py", code),)


def test_code_before_a_call_and_half_an_answer_are_not_moved_to_a_file() -> None:
    text = "```python\n" + "print('hello, world')\n" * 200
    found = seen(
        asked(),
        AssistantMessageEvent(text=text, tool_calls=(CALL,)),
        ToolResultEvent(call_id="c1", status=ToolStatus.OK, output="x"),
        AssistantMessageEvent(text=text, interrupted=True),
        TurnEndedEvent(outcome=TurnOutcome.STOPPED),
    )
    assert not any(each.files for each in found.shown)
    assert len(found.shown) == 7


def test_the_files_of_a_tool_are_a_message_of_their_own() -> None:
    kept = Attachment(sha256="ab", media_type="image/png", name="cat.png")
    found = seen(
        asked(source=5),
        AssistantMessageEvent(text="", tool_calls=(CALL,)),
        ToolResultEvent(call_id="c1", status=ToolStatus.OK, output="x", attachments=(kept,)),
        AssistantMessageEvent(text="Done."),
    )
    assert texts(found) == ["-# Made by `delete_file`", "Done."]
    assert found.shown[0].files == (File("cat.png", Blob("ab")),)
    assert (found.shown[0].key.subject, found.shown[0].asked) == ("c1", "discord-5")


def test_reasoning_is_shown_folded_below_the_answer_where_it_is_wanted() -> None:
    thought = AssistantMessageEvent(text="Four.", reasoning="Two and two.")
    leaked = AssistantMessageEvent(text="<think>Two and two.</think>\nFour.")
    for event in (thought, leaked):
        events = log(asked(), event)
        assert texts(view(events)) == ["Four."]
        shown = texts(view(events, Look(reasoning=True)))
        assert shown == ["Four.\n-# || Two and two. ||"]


def test_reasoning_that_has_no_room_is_a_message_of_its_own_with_the_buttons() -> None:
    events = log(asked(), AssistantMessageEvent(text="x" * 1990, reasoning="Two and two."))
    found = view(events, Look(reasoning=True))
    assert texts(found)[1:] == ["-# || Two and two. ||"]
    assert labels(found) == [[], ["Try again"]]


def test_reasoning_before_a_silent_call_is_not_shown() -> None:
    events = log(asked(), AssistantMessageEvent(text="", tool_calls=(CALL,), reasoning="Hm."))
    assert texts(view(events, Look(reasoning=True))) == []
    answer = log(asked(), AssistantMessageEvent(text="Four."))
    assert texts(view(answer, Look(reasoning=True))) == ["Four."]


def test_what_could_not_be_read_is_told_in_one_line_where_it_was_said() -> None:
    first = replace(asked(), notes=("The file a_b was not read.", "Nor was c."))
    [notice] = seen(first, AssistantMessageEvent(text="", interrupted=True)).shown
    assert notice.content == "The file a\\_b was not read. Nor was c."
    assert (notice.reply_to, notice.key.purpose) == ("discord-5", Purpose.NOTICE)


def test_of_what_came_too_late_nothing_more_is_told() -> None:
    late = TurnEndedEvent(outcome=TurnOutcome.SKIPPED, text="Too late.")
    [notice] = seen(replace(asked(), notes=("Not read.",)), late).shown
    assert notice.content == "Too late."


def test_the_last_reset_can_be_undone_once() -> None:
    session = Session("channel-1")
    session.append(asked(), ResetEvent(by="user-1"))  # of an older version: not known how
    assert not any(each.buttons for each in view(session.unsaved).shown)
    session.append(asked(source=6), ResetEvent(by="user-1", window_before=2))
    first, second = view(session.unsaved).shown
    assert not first.buttons
    assert [each.custom_id for each in second.buttons] == ["undo:4"]
    session.append(asked(source=7), ResetEvent(by="user-2", window_from=2))
    seen = view(session.unsaved)
    assert seen.shown[-1].content == "<@2> undid the reset."
    assert not any(each.buttons for each in seen.shown)
    assert seen.settled_to == 4  # what was asked after the reset is still open
