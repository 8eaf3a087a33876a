"""The log as the model is told it: messages of the Chat Completions API.

The order is by turn, then by call, never by `seq`; so a history only grows at its end, byte for
byte, however the events of several turns lie between each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from bot.agent.said import content, is_image
from bot.agent.untrusted import inert
from bot.events import (
    AssistantMessageEvent,
    Attachment,
    CompactionDoneEvent,
    RecordedEvent,
    ResetEvent,
    ToolCall,
    ToolResultEvent,
    TurnEndedEvent,
    TurnOutcome,
    UserMessageEvent,
)

Message = dict[str, Any]

CONTENT_REFUSED = "content_refused"
IMAGES_REFUSED = "images_refused"
TOO_LONG = "context_too_long"
NO_RESULT = "The outcome of this call is unknown."


def history(
    events: Sequence[RecordedEvent],
    *,
    system_prompt: str = "",
    model: str = "",
    turn_id: str | None = None,
) -> list[Message]:
    """Return the messages for a call of the model in turn `turn_id` (`None`: after all turns).

    Every call has exactly one result and no result lacks its call, whatever the log. Opaque data
    of a service goes back to the `model` that gave it only. Files are parts that name a blob, for
    `Attachments` to put in what it holds.
    """
    messages = [{"role": "system", "content": system_prompt}] if system_prompt else []
    messages += _summary(events)
    names = CallNames(model)
    for turn in _turns(events, turn_id):
        messages += _turn_messages(turn, names)
    return messages


class CallNames:
    """Under which id each call goes to the model.

    A service gets the ids that it gave, which some insist on; but some give the same one again and
    again, and then only the first call keeps it. First come, first served, so that what was sent
    before stays as it was.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._taken: set[str] = set()

    def name(self, call: ToolCall, *, same_model: bool) -> str:
        """Return the id to send for a call, which is asked for once."""
        theirs = call.extra.get("id")
        usable = same_model and isinstance(theirs, str) and theirs and theirs not in self._taken
        name = str(theirs) if usable else call.call_id
        self._taken.add(name)
        return name


def _summary(events: Sequence[RecordedEvent]) -> list[Message]:
    for event in reversed(events):
        if isinstance(event, ResetEvent):
            break
        if isinstance(event, CompactionDoneEvent):
            text = f"What was said before, in short:\n{event.summary}"
            return [{"role": "system", "content": text}]
    return []


def _turns(events: Iterable[RecordedEvent], last: str | None) -> Iterator[Sequence[RecordedEvent]]:
    turns: dict[str, list[RecordedEvent]] = {}
    for event in events:
        if event.turn_id:
            turns.setdefault(event.turn_id, []).append(event)
    for turn_id, turn in turns.items():
        if not _is_left_out(turn):
            yield turn
        if turn_id == last:
            return


def _is_left_out(turn: Sequence[RecordedEvent]) -> bool:
    """Whether the service refused a turn, or it came too late to be answered."""
    ends = [event for event in turn if isinstance(event, TurnEndedEvent)]
    return any(e.code == CONTENT_REFUSED or e.outcome is TurnOutcome.SKIPPED for e in ends)


def _shows(turn: Sequence[RecordedEvent], file: Attachment) -> bool:
    """Whether a file is shown: not one for which the service refused its turn."""
    codes = {event.code for event in turn if isinstance(event, TurnEndedEvent)}
    return TOO_LONG not in codes and not (IMAGES_REFUSED in codes and is_image(file))


def _turn_messages(turn: Sequence[RecordedEvent], names: CallNames) -> Iterator[Message]:
    results = {e.call_id: e for e in turn if isinstance(e, ToolResultEvent)}
    for event in turn:
        if isinstance(event, UserMessageEvent):
            yield {"role": "user", "content": content(event, partial(_shows, turn))}
    for event in turn:
        if isinstance(event, AssistantMessageEvent):
            same = event.model == names.model
            ids = [names.name(call, same_model=same) for call in event.tool_calls]
            yield _answer(event, ids, same_model=same)
            for call, name in zip(event.tool_calls, ids, strict=True):
                result = results.get(call.call_id)
                output = result.output if result else NO_RESULT
                yield {"role": "tool", "tool_call_id": name, "content": inert(output)}


def _answer(event: AssistantMessageEvent, ids: Sequence[str], *, same_model: bool) -> Message:
    message: Message = {"role": "assistant", "content": event.text or None}
    if event.tool_calls:
        pairs = zip(event.tool_calls, ids, strict=True)
        message["tool_calls"] = [_call(call, name, same_model=same_model) for call, name in pairs]
    if same_model:
        message |= event.extra
    return message


def _call(call: ToolCall, name: str, *, same_model: bool) -> Message:
    function = {"name": call.tool, "arguments": call.arguments or "{}"}
    if not same_model:
        return {"id": name, "type": "function", "function": function}
    extra = dict(call.extra)
    return extra | {
        "id": name,
        "type": "function",
        "function": function | dict(extra.get("function", {})),
    }
