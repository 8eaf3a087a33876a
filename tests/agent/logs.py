"""Logs for hypothesis: valid ones, as sessions write them, and any order of any events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from hypothesis import strategies as st

from bot import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    Author,
    CompactionDoneEvent,
    Decision,
    RecordedEvent,
    ResetEvent,
    Session,
    StopRequestedEvent,
    ToolCall,
    ToolResultEvent,
    ToolStartedEvent,
    ToolStatus,
    TurnEndedEvent,
    TurnOutcome,
    TurnResumedEvent,
    UserMessageEvent,
)
from bot.agent.arguments import arguments_hash
from bot.agent.calls import call_states
from bot.agent.loop.closing import end_turn
from bot.agent.loop.steps import CallModel, RunTools, Settle, Stop, Wait, next_step

LATER = datetime(2100, 1, 1, tzinfo=UTC)

Draw = Callable[[st.SearchStrategy[int]], int]


def user_message(number: int = 0) -> UserMessageEvent:
    return UserMessageEvent(text=f"message {number}", author=Author(user_id="user-1", name="Al"))


def answer(calls: Sequence[str] = (), text: str = "text") -> AssistantMessageEvent:
    made = tuple(
        ToolCall(call_id=c, tool="t", arguments="{}", extra={"id": "call_0"}) for c in calls
    )
    return AssistantMessageEvent(text=text, tool_calls=made)


def request(call_id: str) -> ApprovalRequestedEvent:
    return ApprovalRequestedEvent(
        approval_id=f"approval-{call_id}",
        call_id=call_id,
        tool="t",
        arguments={},
        arguments_hash=arguments_hash("t", {}),
        requested_by="user-1",
        expires_at=LATER,
    )


def decision(call_id: str, what: Decision = Decision.APPROVED) -> ApprovalDecidedEvent:
    digest = arguments_hash("t", {})
    return ApprovalDecidedEvent(
        approval_id=f"approval-{call_id}", decision=what, by="user-2", arguments_hash=digest
    )


def started(call_id: str) -> ToolStartedEvent:
    return ToolStartedEvent(call_id=call_id, holder="holder-1")


def result(call_id: str, status: ToolStatus = ToolStatus.OK) -> ToolResultEvent:
    return ToolResultEvent(call_id=call_id, status=status, output=f"result of {call_id}")


@st.composite
def valid_logs(draw: st.DrawFn) -> list[RecordedEvent]:
    """A log as a session writes it: every move follows from `next_step`, or is somebody's."""
    session = Session("s")
    log: list[RecordedEvent] = []
    for number in range(draw(st.integers(1, 25))):
        log += session.append(*_move(draw, session, number))
    return log


def _move(draw: st.DrawFn, session: Session, number: int) -> Sequence[RecordedEvent]:
    what = draw(st.integers(0, 9))
    if what <= 1 or not session.open_turns:
        return [user_message(number)]
    if what == 2:
        by = draw(st.sampled_from(["stop", "ask to stop", "reset", "resume"]))
        return _from_outside(session, by)
    match next_step(session.unfinished()):
        case CallModel():
            return _answered(draw, number)
        case RunTools(calls=calls):
            call_id = draw(st.sampled_from(calls)).call.call_id
            return [started(call_id), *([result(call_id)] if draw(st.booleans()) else [])]
        case Settle(calls=calls):
            return [result(state.call.call_id, ToolStatus.UNKNOWN) for state in calls]
        case Wait(requests=requests):
            call_id = draw(st.sampled_from(requests)).call_id
            return [decision(call_id, draw(st.sampled_from(Decision)))]
        case Stop(turn_id=turn_id, by=by):
            end = TurnEndedEvent(turn_id=turn_id, outcome=TurnOutcome.STOPPED)
            return end_turn(session, end, by=by)
        case _:
            return []


def _from_outside(session: Session, by: str) -> Sequence[RecordedEvent]:
    turn = session.open_turns[0].turn_id
    end = TurnEndedEvent(turn_id=turn, outcome=TurnOutcome.STOPPED)
    if by == "resume":
        return [TurnResumedEvent(attempt=1)]
    if by == "ask to stop":
        return [StopRequestedEvent(turn_id=turn, by="user-1")]
    if by == "stop":
        return end_turn(session, end, by="user-1")
    ends = [
        TurnEndedEvent(turn_id=t.turn_id, outcome=TurnOutcome.STOPPED) for t in session.open_turns
    ]
    return [
        *(e for end in ends for e in end_turn(session, end, by="user-1")),
        ResetEvent(by="user-1"),
    ]


def _answered(draw: st.DrawFn, number: int) -> Sequence[RecordedEvent]:
    calls = [f"call-{number}-{n}" for n in range(draw(st.integers(0, 3)))]
    gated = [call for call in calls if draw(st.booleans())]
    return [answer(calls), *(request(call) for call in gated)]


IDS = st.sampled_from(["a", "b", "c"])
ANY_EVENT: st.SearchStrategy[RecordedEvent] = st.one_of(
    st.builds(user_message),
    st.builds(answer, st.lists(IDS, unique=True)),
    st.builds(request, IDS),
    st.builds(decision, IDS, st.sampled_from(Decision)),
    st.builds(started, IDS),
    st.builds(result, IDS, st.sampled_from(ToolStatus)),
    st.builds(
        TurnEndedEvent,
        outcome=st.sampled_from(TurnOutcome),
        code=st.sampled_from(["", "content_refused"]),
    ),
    st.builds(TurnResumedEvent, attempt=st.integers(1, 3)),
    st.builds(StopRequestedEvent, by=st.just("user-1")),
    st.builds(ResetEvent, by=st.just("user-1")),
    st.builds(CompactionDoneEvent, summary=st.just("before"), window_from=st.just(1)),
)


@st.composite
def any_logs(draw: st.DrawFn) -> list[RecordedEvent]:
    """Any events in any order, with turns taken from a few names."""
    events = draw(st.lists(ANY_EVENT, max_size=25))
    turns = [draw(st.sampled_from(["t1", "t2", "t3"])) for _ in events]
    return [
        event.placed(n + 1, turn) for n, (event, turn) in enumerate(zip(events, turns, strict=True))
    ]


def calls_without_result(log: Sequence[RecordedEvent]) -> list[str]:
    return [call_id for call_id, state in call_states(log).items() if state.result is None]
