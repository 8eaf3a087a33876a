"""The log as the model is told it: messages of the Chat Completions API.

The order is by turn, then by call, never by `seq`; so a history only grows at its end, byte for
byte, however the events of several turns lie between each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bot.events import (
    AssistantMessageEvent,
    Attachment,
    CompactionDoneEvent,
    RecordedEvent,
    ResetEvent,
    ToolCall,
    ToolResultEvent,
    TurnEndedEvent,
    UserMessageEvent,
)

Message = dict[str, Any]

CONTENT_REFUSED = "content_refused"
SPEAKER = "[from "
"""Begins the line that tells who speaks, where several people do; escaped in what they wrote."""
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
    of a service goes back to the `model` that gave it only.
    """
    messages = [{"role": "system", "content": system_prompt}] if system_prompt else []
    messages += _summary(events)
    for turn in _turns(events, turn_id):
        messages += _turn_messages(turn, model)
    return messages


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
        if not _was_refused(turn):
            yield turn
        if turn_id == last:
            return


def _was_refused(turn: Sequence[RecordedEvent]) -> bool:
    return any(isinstance(e, TurnEndedEvent) and e.code == CONTENT_REFUSED for e in turn)


def _turn_messages(turn: Sequence[RecordedEvent], model: str) -> Iterator[Message]:
    results = {e.call_id: e for e in turn if isinstance(e, ToolResultEvent)}
    for event in turn:
        if isinstance(event, UserMessageEvent):
            yield {"role": "user", "content": _said(event)}
    for event in turn:
        if isinstance(event, AssistantMessageEvent):
            yield _answer(event, with_extra=event.model == model)
            for call in event.tool_calls:
                result = results.get(call.call_id)
                output = result.output if result else NO_RESULT
                yield {"role": "tool", "tool_call_id": call.call_id, "content": output}


def _said(event: UserMessageEvent) -> str:
    lines = [event.text]
    if event.author and event.author.name:
        speaker = f"{SPEAKER}{event.author.name} ({event.author.user_id})]"
        lines = [speaker, event.text.replace(SPEAKER, f"\\{SPEAKER}")]
    lines += [_named(attachment) for attachment in event.attachments]
    return "\n".join(line for line in lines if line)


def _named(attachment: Attachment) -> str:
    return f"[attached: {attachment.name} ({attachment.media_type})]"


def _answer(event: AssistantMessageEvent, *, with_extra: bool) -> Message:
    message: Message = {"role": "assistant", "content": event.text or None}
    if event.tool_calls:
        message["tool_calls"] = [_call(call, with_extra=with_extra) for call in event.tool_calls]
    if with_extra:
        message |= event.extra
    return message


def _call(call: ToolCall, *, with_extra: bool) -> Message:
    made = {
        "id": call.call_id,
        "type": "function",
        "function": {"name": call.tool, "arguments": call.arguments or "{}"},
    }
    if with_extra:
        made |= {key: value for key, value in call.extra.items() if key != "id"}
    return made
