"""What people should see of a session: a pure function of its log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    RecordedEvent,
    ResetEvent,
    ToolResultEvent,
    TurnEndedEvent,
    TurnOutcome,
    UserMessageEvent,
)
from bot.frontend.card import card, person
from bot.frontend.markdown import render
from bot.frontend.reasoning import split_reasoning
from bot.frontend.shown import File, Key, Purpose, Shown
from bot.frontend.text import code, one_line

EMPTY_ANSWER = "*(The answer was empty.)*"

_ENDS = {
    TurnOutcome.FAILED: "Something went wrong, and there is no answer.",
    TurnOutcome.STOPPED: "Stopped.",
    TurnOutcome.CANCELLED: "",
    TurnOutcome.SKIPPED: "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a stretch of a log shows.

    Attributes:
        shown: The messages, in their order.
        closed: The turns that have ended, with the source ids of the messages that began them:
            they show nothing else, whatever was previewed.
        settled_to: Up to this `seq` of the log nothing that is shown will change.
        expires_at: When the first undecided request expires.
    """

    shown: Sequence[Shown]
    closed: Mapping[str, str | None]
    settled_to: int
    expires_at: datetime | None


@dataclass(slots=True)
class _Turn:
    source_id: str | None
    author: str
    since: int  # the `seq` from which on the log tells all that this turn shows
    calls: int = 0
    pending: set[str] = field(default_factory=set)


def view(events: Sequence[RecordedEvent]) -> View:
    """Return what a stretch of a log shows.

    The stretch ends where the log ends. A turn of which the first message lies before it is not
    shown: whoever cuts the stretch has shown it already.
    """
    return _Stretch(events).view()


class _Stretch:
    """One pass over the events, which keeps what the next ones need."""

    def __init__(self, events: Sequence[RecordedEvent]) -> None:
        self._events = events
        self._skipped = {each.turn_id for each in events if _is_skip(each)}
        self._turns: dict[str, _Turn] = {}
        self._open: dict[str, _Turn] = {}
        self._requests: dict[str, ApprovalRequestedEvent] = {}
        self._decisions: dict[str, ApprovalDecidedEvent] = {}
        self._results: dict[str, ToolResultEvent] = {}
        self._told: set[tuple[str, str]] = set()
        self._slots: list[Shown | str] = []  # a text is the id of a request: its card comes last

    def view(self) -> View:
        for event in self._events:
            self._slots += self._seen(event)
            self._slots += self._told_to_wait()
        return View(
            shown=[each if isinstance(each, Shown) else self._card(each) for each in self._slots],
            closed={k: each.source_id for k, each in self._turns.items() if k not in self._open},
            settled_to=self._settled_to(),
            expires_at=min(self._expiries(), default=None),
        )

    def _seen(self, event: RecordedEvent) -> Iterator[Shown | str]:
        match event:
            case UserMessageEvent():
                self._begin(event)
            case ResetEvent():
                yield from self._reset(event)
            case ToolResultEvent():
                self._results[event.call_id] = event
            case ApprovalDecidedEvent():
                self._decide(event)
            case _:
                if turn := self._turns.get(event.turn_id):
                    yield from self._seen_in(turn, event)

    def _seen_in(self, turn: _Turn, event: RecordedEvent) -> Iterator[Shown | str]:
        match event:
            case AssistantMessageEvent():
                yield from _answer(turn, event)
                turn.calls += 1
                if event.ends_turn:
                    self._open.pop(event.turn_id, None)
            case ApprovalRequestedEvent():
                self._requests[event.approval_id] = event
                turn.pending.add(event.approval_id)
                yield event.approval_id
            case TurnEndedEvent():
                self._open.pop(event.turn_id, None)
                yield from _end(turn, event)
            case _:
                pass

    def _begin(self, event: UserMessageEvent) -> None:
        if event.turn_id not in self._turns:
            author = event.author.user_id if event.author else ""
            turn = self._turns[event.turn_id] = _Turn(event.source_id, author, event.seq)
            if event.turn_id not in self._skipped:  # those wait for nothing
                self._open[event.turn_id] = turn

    def _decide(self, event: ApprovalDecidedEvent) -> None:
        self._decisions[event.approval_id] = event
        for turn in self._open.values():
            turn.pending.discard(event.approval_id)

    def _reset(self, event: ResetEvent) -> Iterator[Shown]:
        self._open.clear()
        key = Key(f"reset-{event.seq}", "reset", Purpose.NOTICE)
        yield Shown(key=key, content=f"{person(event.by)} began the conversation anew.")

    def _told_to_wait(self) -> Iterator[Shown]:
        """Tell whoever has written behind a turn that waits for a decision, once each."""
        first, waiting = next(iter(self._open.items()), ("", None))
        if waiting is None or not waiting.pending:
            return
        for name, turn in self._open.items():
            turn.since = waiting.since if turn is not waiting else turn.since
            if turn is not waiting and (first, turn.author) not in self._told:
                self._told.add((first, turn.author))
                yield self._wait_notice(name, turn, waiting)

    def _wait_notice(self, name: str, turn: _Turn, waiting: _Turn) -> Shown:
        tools = sorted({code(self._requests[each].tool) for each in waiting.pending})
        text = f"This waits for a decision on {', '.join(tools[:5])}; I answer you after it."
        return Shown(key=Key(name, "wait", Purpose.NOTICE), content=text, reply_to=turn.source_id)

    def _expiries(self) -> Iterator[datetime]:
        for turn in self._open.values():
            yield from (self._requests[each].expires_at for each in turn.pending)

    def _card(self, approval_id: str) -> Shown:
        request = self._requests[approval_id]
        return card(
            request,
            self._decisions.get(approval_id),
            self._results.get(request.call_id),
            turn_closed=request.turn_id not in self._open,
            asked=self._turns[request.turn_id].source_id,
        )

    def _settled_to(self) -> int:
        still_open = [turn.since for turn in self._open.values()]
        last = self._events[-1].seq if self._events else 0
        return min(still_open) - 1 if still_open else last


def _is_skip(event: RecordedEvent) -> bool:
    return isinstance(event, TurnEndedEvent) and event.outcome is TurnOutcome.SKIPPED


def _answer(turn: _Turn, event: AssistantMessageEvent) -> Iterator[Shown]:
    subject = f"m{turn.calls}"
    answer, _ = split_reasoning(event.text)
    rendered = render(answer)
    parts = rendered.messages or ([EMPTY_ANSWER] if event.ends_turn else [])
    whole = File("answer.md", rendered.attachment) if rendered.attachment else None
    for number, part in enumerate(parts):
        yield Shown(
            key=Key(event.turn_id, subject, Purpose.ANSWER, number),
            content=part,
            file=whole if number == len(parts) - 1 else None,
            reply_to=turn.source_id if number == 0 else None,
            asked=turn.source_id,
        )


def _end(turn: _Turn, event: TurnEndedEvent) -> Iterator[Shown]:
    text = event.text or _ENDS[event.outcome]
    if text:
        reference = f" (reference {one_line(event.reference, 40)})" if event.reference else ""
        yield Shown(
            key=Key(event.turn_id, "end", Purpose.NOTICE),
            content=f"{one_line(text, 1500)}{reference}",
            reply_to=turn.source_id,
        )
