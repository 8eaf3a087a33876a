from __future__ import annotations

import json

import pytest

from bot.errors import StateError
from bot.events import (
    AssistantMessageEvent,
    CompactionDoneEvent,
    ResetEvent,
    TurnEndedEvent,
    TurnOutcome,
    UserMessageEvent,
)
from bot.sessions import OpenTurn, Session, State
from bot.sessions.session import check_session_id
from tests.sessions.samples import answers, calls, decides, requests, results, says, starts


def test_events_get_numbers_and_turns() -> None:
    session = Session("s")
    message, call = session.append(says(), calls("c"))
    assert (message.seq, call.seq) == (1, 2)
    assert message.turn_id == call.turn_id != ""
    assert session.updated_at == call.at


def test_events_of_a_call_take_its_turn_though_another_is_older() -> None:
    session = Session("s")
    first, second = session.append(says("one"), says("two"))
    call = calls("c")
    session.append(
        AssistantMessageEvent(text="", tool_calls=call.tool_calls, turn_id=second.turn_id)
    )
    placed = session.append(requests("a", "c"), decides("a"), starts("c"), results("c"))
    assert {event.turn_id for event in placed} == {second.turn_id}
    assert first.turn_id != second.turn_id


def test_events_of_calls_and_approvals_nobody_knows_have_no_turn() -> None:
    session = Session("s")
    session.append(says(), answers())
    assert [e.turn_id for e in session.append(starts("x"), decides("x"))] == ["", ""]


def test_a_turn_is_open_until_its_answer_its_end_or_a_reset() -> None:
    session = Session("s")
    one, two, three = session.append(says("1"), says("2"), says("3"))
    assert [turn.seq for turn in session.open_turns] == [1, 2, 3]
    session.append(answers())
    assert [turn.turn_id for turn in session.open_turns] == [two.turn_id, three.turn_id]
    session.append(TurnEndedEvent(outcome=TurnOutcome.STOPPED))
    assert [turn.turn_id for turn in session.open_turns] == [three.turn_id]
    assert [event.seq for event in session.unfinished()] == [3, 4, 5]
    session.append(ResetEvent(by="alice"))
    assert session.open_turns == ()
    assert session.unfinished() == ()
    assert one.turn_id != two.turn_id


def test_an_interrupted_answer_or_one_with_calls_leaves_its_turn_open() -> None:
    session = Session("s")
    session.append(says(), AssistantMessageEvent(text="hal", interrupted=True), calls("c"))
    assert len(session.open_turns) == 1


def test_a_message_of_an_open_turn_joins_it() -> None:
    session = Session("s")
    message = session.append(says())[0]
    session.append(UserMessageEvent(text="more", turn_id=message.turn_id))
    assert session.open_turns == (OpenTurn(turn_id=message.turn_id, seq=1),)


def test_a_session_waits_while_its_oldest_turn_has_undecided_requests() -> None:
    session = Session("s")
    session.append(says(), says(), calls("c", "d"), requests("a", "c"), requests("b", "d"))
    assert session.open_turns[0].pending == ("a", "b")
    session.append(decides("a"))
    assert session.waits
    session.append(decides("b"))
    assert not session.waits


def test_events_without_an_open_turn() -> None:
    session = Session("s")
    answer, end = session.append(answers(), TurnEndedEvent(outcome=TurnOutcome.FAILED))
    assert answer.turn_id != ""
    assert end.turn_id == ""


def test_what_is_unsaved_is_kept_when_the_window_moves_past_it() -> None:
    session = Session("s")
    session.append(
        says(), ResetEvent(by="alice"), says(), CompactionDoneEvent(summary="", window_from=3)
    )
    assert [event.seq for event in session.events] == [3, 4]
    assert [event.seq for event in session.unsaved] == [1, 2, 3, 4]
    session.mark_saved(seq=2, version=1)
    assert [event.seq for event in session.unsaved] == [3, 4]


def test_since_counts_by_number() -> None:
    session = Session("s")
    assert session.since(1) == ()
    session.append(says(), answers(), ResetEvent(by="alice"), says())
    assert [event.seq for event in session.since(4)] == [4]
    assert [event.seq for event in session.since(1)] == [3, 4]


def test_a_dictionary_tells_everything_of_a_session() -> None:
    session = Session("s", "alice", state={"a": [1]})
    session.append(says("gone"), ResetEvent(by="alice"), says(), calls("c"), requests())
    session.mark_saved(seq=3, version=7)
    again = Session.from_dict(json.loads(json.dumps(session.to_dict())))
    assert again.to_dict() == session.to_dict()
    assert again.events == session.events
    assert again.state == session.state
    assert again.unsaved == ()
    assert again.waits
    assert repr(again) == "<Session 's' last_seq=5 version=7>"
    assert not again.changed(again.state.to_json())


def test_a_dictionary_is_independent_of_its_session() -> None:
    session = Session("s", state={"a": [1]})
    data = session.to_dict()
    session.state["a"].append(2)
    assert data["state"] == {"a": [1]}


def test_an_id_is_a_string() -> None:
    with pytest.raises(ValueError):
        check_session_id(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", [b"bytes", {1: 2}, (1, 2), float("nan"), float("inf"), {"deep": [object()]}, {1}]
)
def test_a_value_that_is_not_json_is_refused_by_name(value: object) -> None:
    state = State()
    with pytest.raises(StateError, match="mood"):
        state["mood"] = value
    assert len(state) == 0


def test_a_value_that_contains_itself_is_refused() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(StateError):
        Session("s").state = {"mood": value}


def test_state_keys_are_strings() -> None:
    with pytest.raises(StateError):
        State()[1] = 2  # type: ignore[index]


def test_state_is_a_mapping() -> None:
    state = State({"a": 1, "b\n": [None]})
    del state["a"]
    assert list(state) == ["b\n"]
    assert repr(state) == "State({'b\\n': [None]})"
    assert State.from_json(state.to_json()) == state
