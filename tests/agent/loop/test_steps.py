from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given

from bot import (
    Decision,
    RecordedEvent,
    ResetEvent,
    Session,
    StopRequestedEvent,
    ToolStartedEvent,
    TurnEndedEvent,
    TurnOutcome,
)
from bot.agent.calls import call_states
from bot.agent.loop.steps import (
    CallModel,
    Done,
    RunTools,
    Settle,
    Stop,
    Wait,
    next_step,
    stop_requested,
)
from tests.agent.logs import (
    answer,
    any_logs,
    calls_without_result,
    decision,
    request,
    result,
    started,
    user_message,
    valid_logs,
)

STOPPED = TurnEndedEvent(outcome=TurnOutcome.STOPPED)


def log(*events: RecordedEvent) -> Sequence[RecordedEvent]:
    return Session("s").append(*events)


def names(step: object) -> list[str]:
    assert isinstance(step, RunTools | Settle)
    return [state.call.call_id for state in step.calls]


def test_nothing_is_open_in_an_empty_log() -> None:
    assert next_step([]) == Done()


def test_a_message_is_for_the_model() -> None:
    events = log(user_message())
    assert next_step(events) == CallModel(events[0].turn_id)


def test_an_answer_without_calls_ends_its_turn() -> None:
    assert next_step(log(user_message(), answer())) == Done()


def test_free_calls_run() -> None:
    assert names(next_step(log(user_message(), answer(["a", "b"])))) == ["a", "b"]


def test_a_gated_call_waits_and_a_free_one_runs_first() -> None:
    events = [user_message(), answer(["a", "b"]), request("a")]
    assert names(next_step(log(*events))) == ["b"]
    step = next_step(log(*events, started("b"), result("b")))
    assert isinstance(step, Wait)
    assert [r.call_id for r in step.requests] == ["a"]


def test_an_approved_call_runs_while_another_waits() -> None:
    events = [user_message(), answer(["a", "b"]), request("a"), request("b"), decision("b")]
    assert names(next_step(log(*events))) == ["b"]


@pytest.mark.parametrize("no", [d for d in Decision if d is not Decision.APPROVED])
def test_a_call_that_was_not_approved_is_settled(no: Decision) -> None:
    events = [user_message(), answer(["a"]), request("a"), decision("a", no)]
    step = next_step(log(*events))
    assert isinstance(step, Settle)
    assert names(step) == ["a"]


def test_a_started_call_without_a_result_is_settled_before_anything_else() -> None:
    events = [user_message(), answer(["a", "b"]), started("b")]
    step = next_step(log(*events))
    assert isinstance(step, Settle)
    assert names(step) == ["b"]


def test_with_all_results_the_model_goes_on() -> None:
    events = log(user_message(), answer(["a"]), started("a"), result("a"))
    assert next_step(events) == CallModel(events[0].turn_id)


def test_the_oldest_open_turn_comes_first() -> None:
    events = log(user_message(1), user_message(2))
    assert next_step(events) == CallModel(events[0].turn_id)
    assert next_step([*events, STOPPED.placed(3, events[0].turn_id)]) == CallModel(
        events[1].turn_id
    )


def test_a_reset_ends_all_turns() -> None:
    events = log(user_message(1), user_message(2))
    assert next_step([*events, ResetEvent(by="user-1").placed(3, "")]) == Done()


def test_an_interrupted_answer_does_not_end_its_turn_by_itself() -> None:
    from dataclasses import replace

    events = log(user_message(), replace(answer(), interrupted=True))
    assert isinstance(next_step(events), CallModel)


def test_a_turn_that_somebody_asked_to_end_does_nothing_else() -> None:
    events = [user_message(), answer(["a", "b"]), request("a"), StopRequestedEvent(by="mod")]
    step = next_step(log(*events))
    assert isinstance(step, Stop)
    assert step.by == "mod"
    assert next_step(log(*events, STOPPED)) == Done()


@given(valid_logs())
def test_every_prefix_of_a_valid_log_leads_to_a_valid_step(events: list[RecordedEvent]) -> None:
    for length in range(len(events) + 1):
        prefix = events[:length]
        states = call_states(prefix)
        match next_step(prefix):
            case CallModel(turn_id):
                ours = [e for e in prefix if e.turn_id == turn_id]
                assert not calls_without_result(ours)
            case RunTools(_, calls):
                assert calls
                assert all(state.started is None and state.result is None for state in calls)
                assert all(
                    state.request is None
                    or (state.decision and state.decision.decision is Decision.APPROVED)
                    for state in calls
                )
            case Settle(_, calls):
                assert calls
                assert all(state.result is None for state in calls)
            case Wait(_, requests):
                assert requests
                assert all(states[r.call_id].decision is None for r in requests)
            case Stop(turn_id):
                assert stop_requested([e for e in prefix if e.turn_id == turn_id])
            case Done():
                pass


@given(valid_logs())
def test_the_end_of_a_log_from_its_oldest_open_turn_says_the_same_as_all_of_it(
    events: list[RecordedEvent],
) -> None:
    session = Session("s")
    session.append(*(event.placed(0, event.turn_id) for event in events))
    assert next_step(session.unfinished()) == next_step(session.events)


@given(valid_logs())
def test_a_call_is_offered_only_until_it_starts(events: list[RecordedEvent]) -> None:
    starts = [e.call_id for e in events if isinstance(e, ToolStartedEvent)]
    assert len(starts) == len(set(starts))


@given(any_logs())
def test_no_log_whatever_makes_it_fail(events: list[RecordedEvent]) -> None:
    next_step(events)
