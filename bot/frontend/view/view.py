"""What people should see of a session: a pure function of its log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import discord

from bot.agent.history.compaction import is_boundary
from bot.agent.loop.steps import Wait, next_step
from bot.events import (
    ApprovalDecidedEvent,
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    CompactionDoneEvent,
    RecordedEvent,
    ResetEvent,
    ToolResultEvent,
    TurnEndedEvent,
    TurnOutcome,
    UserMessageEvent,
)
from bot.frontend.ids import CLOCKS_DIFFER, message_of, source_id_of
from bot.frontend.text import code, plain
from bot.frontend.view.answers import Asked, Look, answer, end, made, receipt
from bot.frontend.view.card import card, person
from bot.frontend.view.reminders import Reminder, reminder
from bot.frontend.view.shown import Button, Key, Purpose, Shown, instead_id, undo_id

SUMMARISED = "-# I summarised the earlier part of this conversation."


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a stretch of a log shows.

    Attributes:
        shown: The messages, in their order.
        closed: The turns that have ended, with the source ids of the messages that began them:
            they show nothing else, whatever was previewed.
        waiting: The turn that does nothing until somebody decides, if one does, told in that way.
        settled_to: Up to this `seq` of the log nothing that is shown will change.
        expires_at: When the first undecided request expires.
        reminders: What is to be shown of undecided requests from a time on.
    """

    shown: Sequence[Shown]
    closed: Mapping[str, str | None]
    waiting: Mapping[str, str | None]
    settled_to: int
    expires_at: datetime | None
    reminders: Sequence[Reminder] = ()


@dataclass(slots=True)
class _Turn:
    asked: Asked
    author: str
    since: int  # the `seq` from which on the log tells all that this turn shows
    calls: int = 0
    tools: dict[str, str] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)


def view(events: Sequence[RecordedEvent], look: Look = Look()) -> View:  # noqa: B008 - frozen
    """Return what a stretch of a log shows.

    The stretch ends where the log ends. A turn of which the first message lies before it is not
    shown: whoever cuts the stretch has shown it already.
    """
    return _Stretch(events, look).view()


def with_reminders(seen: View, now: datetime) -> tuple[View, datetime | None]:
    """Return a view with the reminders that are due, and when to look again."""
    due = [each.shown for each in seen.reminders if each.at <= now < each.until]
    later = [each.at for each in seen.reminders if each.at > now]
    times = [*later, *([seen.expires_at] if seen.expires_at else [])]
    return replace(seen, shown=[*seen.shown, *due]), min(times, default=None)


class _Stretch:
    """One pass over the events, which keeps what the next ones need."""

    def __init__(self, events: Sequence[RecordedEvent], look: Look) -> None:
        self._events = events
        self._look = look
        self._skipped = {each.turn_id for each in events if _is_skip(each)}
        self._undoable = _undoable(events)
        self._turns: dict[str, _Turn] = {}
        self._open: dict[str, _Turn] = {}
        self._requests: dict[str, ApprovalRequestedEvent] = {}
        self._decisions: dict[str, ApprovalDecidedEvent] = {}
        self._results: dict[str, ToolResultEvent] = {}
        self._told: set[tuple[str, str]] = set()
        self._behind: dict[Key, str] = {}  # by wait notice the turn that is waited for
        self._slots: list[Shown | str] = []  # a text is the id of a request: its card comes last

    def view(self) -> View:
        for event in self._events:
            self._slots += self._seen(event)
            self._slots += self._told_to_wait()
        return View(
            shown=[self._now(each) for each in self._slots],
            closed={k: each.asked.after for k, each in self._turns.items() if k not in self._open},
            waiting=self._waiting(),
            settled_to=self._settled_to(),
            expires_at=min((each.expires_at for each in self._undecided()), default=None),
            reminders=tuple(filter(None, map(reminder, self._undecided()))),
        )

    def _seen(self, event: RecordedEvent) -> Iterator[Shown | str]:
        match event:
            case UserMessageEvent():
                self._begin(event)
                if event.notes and event.turn_id not in self._skipped:
                    yield _notes(event)
            case ResetEvent():
                yield from self._reset(event)
            case CompactionDoneEvent() if event.messages:
                yield _summarised(event)
            case ToolResultEvent():
                yield from self._finished(event)
            case ApprovalDecidedEvent():
                self._decide(event)
            case _:
                if turn := self._turns.get(event.turn_id):
                    yield from self._seen_in(turn, event)

    def _seen_in(self, turn: _Turn, event: RecordedEvent) -> Iterator[Shown | str]:
        match event:
            case AssistantMessageEvent():
                yield from answer(event, f"m{turn.calls}", turn.asked, self._look)
                turn.calls += 1
                turn.tools |= {call.call_id: call.tool for call in event.tool_calls}
                if event.ends_turn:
                    self._open.pop(event.turn_id, None)
            case ApprovalRequestedEvent():
                self._requests[event.approval_id] = event
                turn.pending.add(event.approval_id)
                yield event.approval_id
            case TurnEndedEvent():
                self._open.pop(event.turn_id, None)
                yield from end(event, turn.asked, self._look)
            case _:
                pass

    def _finished(self, event: ToolResultEvent) -> Iterator[Shown]:
        self._results[event.call_id] = event
        if turn := self._turns.get(event.turn_id):
            yield from made(event, turn.tools.get(event.call_id, "a tool"), turn.asked)
            yield from receipt(event, turn.asked)

    def _begin(self, event: UserMessageEvent) -> None:
        if event.turn_id not in self._turns:
            author = event.author.user_id if event.author else ""
            turn = self._turns[event.turn_id] = _Turn(self._asked(event), author, event.seq)
            if event.turn_id not in self._skipped:  # those wait for nothing
                self._open[event.turn_id] = turn

    def _asked(self, event: UserMessageEvent) -> Asked:
        """Return what a turn answers.

        A button's was pressed after what it is about was asked. What was scheduled has no message:
        what answers it is newer than it, and not the same text of an earlier time.
        """
        about = self._turns.get(event.about)
        after = event.source_id or (about.asked.after if about else None)
        if message_of(after) is None:
            after = source_id_of(discord.utils.time_snowflake(event.at - CLOCKS_DIFFER))
        return Asked(event.source_id, after)

    def _decide(self, event: ApprovalDecidedEvent) -> None:
        self._decisions[event.approval_id] = event
        for turn in self._open.values():
            turn.pending.discard(event.approval_id)

    def _reset(self, event: ResetEvent) -> Iterator[Shown]:
        if not event.undoes:
            self._open.clear()
        what = "undid the reset" if event.undoes else "began the conversation anew"
        yield Shown(
            key=Key(f"reset-{event.seq}", "reset", Purpose.NOTICE),
            content=f"{person(event.by)} {what}.",
            buttons=(Button("Undo", undo_id(event.seq)),) if event.seq == self._undoable else (),
        )

    def _told_to_wait(self) -> Iterator[Shown]:
        """Tell whoever has written behind a turn that waits for a decision, once each."""
        first, waiting = next(iter(self._open.items()), ("", None))
        if waiting is None or not waiting.pending:
            return
        for name, turn in self._open.items():
            turn.since = waiting.since if turn is not waiting else turn.since
            if turn is not waiting and (first, turn.author) not in self._told:
                self._told.add((first, turn.author))
                yield self._wait_notice(name, turn, first, waiting)

    def _wait_notice(self, name: str, turn: _Turn, first: str, waiting: _Turn) -> Shown:
        tools = sorted({code(self._requests[each].tool) for each in waiting.pending})
        text = f"This waits for a decision on {', '.join(tools[:5])}; I answer you after it."
        key = Key(name, "wait", Purpose.NOTICE)
        buttons: tuple[Button, ...] = ()
        if turn.author == waiting.author:
            buttons = (Button("Withdraw and answer this instead", instead_id(first, name)),)
            self._behind[key] = first
        return Shown(key=key, content=text, buttons=buttons, reply_to=turn.asked.source_id)

    def _undecided(self) -> Iterator[ApprovalRequestedEvent]:
        for turn in self._open.values():
            yield from (self._requests[each] for each in sorted(turn.pending))

    def _now(self, slot: Shown | str) -> Shown:
        """Return what a slot shows in the end: a card, or a notice that may have lost its use."""
        if isinstance(slot, str):
            return self._card(slot)
        over = self._behind.get(slot.key, "") not in self._open
        return replace(slot, buttons=()) if slot.key in self._behind and over else slot

    def _card(self, approval_id: str) -> Shown:
        request = self._requests[approval_id]
        return card(
            request,
            self._decisions.get(approval_id),
            self._results.get(request.call_id),
            turn_closed=request.turn_id not in self._open,
            asked=self._turns[request.turn_id].asked.after,
        )

    def _waiting(self) -> Mapping[str, str | None]:
        step = next_step(self._events)
        turn = self._turns.get(step.turn_id) if isinstance(step, Wait) else None
        return {step.turn_id: turn.asked.after} if isinstance(step, Wait) and turn else {}

    def _settled_to(self) -> int:
        still_open = [turn.since for turn in self._open.values()]
        last = self._events[-1].seq if self._events else 0
        return min(still_open) - 1 if still_open else last


def _undoable(events: Sequence[RecordedEvent]) -> int:
    """Return the number of the reset that may be taken back, 0 where there is none."""
    last = next((event for event in reversed(events) if is_boundary(event)), None)
    undoable = isinstance(last, ResetEvent) and not last.undoes and last.window_before
    return last.seq if last is not None and undoable else 0


def _is_skip(event: RecordedEvent) -> bool:
    return isinstance(event, TurnEndedEvent) and event.outcome is TurnOutcome.SKIPPED


def _notes(event: UserMessageEvent) -> Shown:
    """Tell somebody what of their message could not be read, in one line."""
    return Shown(
        key=Key(event.turn_id, f"n{event.seq}", Purpose.NOTICE),
        content=plain(" ".join(event.notes), 1000),
        reply_to=event.source_id,
    )


def _summarised(event: CompactionDoneEvent) -> Shown:
    key = Key(f"compaction-{event.seq}", "compaction", Purpose.NOTICE)
    return Shown(key=key, content=SUMMARISED)
