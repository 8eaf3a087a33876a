"""What an answer of the model shows, and the end of a turn that has none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from bot.agent.loop.failures import kind_of
from bot.agent.model.reasoning import split_reasoning
from bot.events import Ask, AssistantMessageEvent, ToolResultEvent, TurnEndedEvent, TurnOutcome
from bot.frontend.rendering.lifted import lifted
from bot.frontend.rendering.markdown import LIMIT, render
from bot.frontend.text import code, one_line, plain
from bot.frontend.view.folded import folded
from bot.frontend.view.shown import Blob, Button, File, Key, Purpose, Shown, again_id, take_back_id

RECEIPT_LENGTH = 700
EMPTY_ANSWER = "*(The answer was empty.)*"
CUT = frozenset({"length", "max_tokens"})
"""The finish reasons of an answer that reached the model's limit."""

_ENDS = {
    TurnOutcome.FAILED: "Something went wrong, and there is no answer.",
    TurnOutcome.STOPPED: "Stopped.",
    TurnOutcome.CANCELLED: "",
    TurnOutcome.SKIPPED: "",
}
_LABELS = {Ask.RETRY: "Try again", Ask.CONTINUE: "Continue"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What is shown of a log, by setting.

    Attributes:
        buttons: Whether answers have buttons to ask again.
        reasoning: Whether the model's reasoning is shown, folded, where it told any.
    """

    buttons: bool = True
    reasoning: bool = False


class Asked(NamedTuple):
    """What a turn answers.

    Attributes:
        source_id: The message, if it was one.
        after: A message after which it was asked, if one is known.
    """

    source_id: str | None
    after: str | None


def answer(event: AssistantMessageEvent, subject: str, asked: Asked, look: Look) -> Iterator[Shown]:
    """Give the messages that show an answer."""
    final = event.ends_turn
    text, leaked = split_reasoning(event.text)
    parts, files = _rendered(text, final=final)
    parts = parts or ([EMPTY_ANSWER] if final else [])
    if look.reasoning and parts:
        parts = _with_folded(parts, folded("\n".join((event.reasoning, leaked))))
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        yield Shown(
            key=Key(event.turn_id, subject, Purpose.ANSWER, number),
            content=part,
            buttons=_buttons(event, look) if last and final else (),
            files=files if last else (),
            reply_to=asked.source_id if number == 0 else None,
            asked=asked.after,
        )


def _rendered(text: str, *, final: bool) -> tuple[list[str], tuple[File, ...]]:
    """Return the messages of an answer, and the files of the last of them."""
    files: list[File] = []
    if final and (found := lifted(text)):
        text = found.text
        files.append(File(found.name, found.code))
    rendered = render(text)
    if rendered.attachment:
        files.append(File("answer.md", rendered.attachment))
    return rendered.messages, tuple(files)


def _with_folded(parts: list[str], reasoning: str) -> list[str]:
    """Add reasoning behind the last message, or as one more where that has no room."""
    if not reasoning or len(parts[-1]) + 1 + len(reasoning) > LIMIT:
        return [*parts, *filter(None, [reasoning])]
    return [*parts[:-1], f"{parts[-1]}\n{reasoning}"]


def made(event: ToolResultEvent, tool: str, asked: Asked) -> Iterator[Shown]:
    """Give the message that shows the files which a tool made."""
    if event.attachments:
        files = (File(each.name, Blob(each.sha256)) for each in event.attachments)
        yield Shown(
            key=Key(event.turn_id, event.call_id, Purpose.FILES),
            content=f"-# Made by {code(tool)}",
            files=tuple(files),
            asked=asked.after,
        )


def receipt(event: ToolResultEvent, asked: Asked) -> Iterator[Shown]:
    """Give the quiet line that tells what a tool did without asking, with a way to undo it."""
    if event.receipt:
        undo = event.receipt.undo
        yield Shown(
            key=Key(event.turn_id, event.call_id, Purpose.NOTICE),
            content=f"-# {plain(event.receipt.text, RECEIPT_LENGTH)}",
            buttons=(Button("Undo", take_back_id(undo)),) if undo else (),
            asked=asked.after,
        )


def end(event: TurnEndedEvent, asked: Asked, look: Look) -> Iterator[Shown]:
    """Give the message that tells how a turn ended, if people are to know."""
    text = event.text or _ENDS[event.outcome]
    if text:
        reference = f" (reference {one_line(event.reference, 40)})" if event.reference else ""
        ask = kind_of(event.code).ask if event.outcome is TurnOutcome.FAILED else None
        yield Shown(
            key=Key(event.turn_id, "end", Purpose.NOTICE),
            content=f"{one_line(text, 1500)}{reference}",
            buttons=(_button(ask, event.turn_id),) if ask and look.buttons else (),
            reply_to=asked.source_id,
            asked=asked.after,
        )


def _buttons(event: AssistantMessageEvent, look: Look) -> tuple[Button, ...]:
    if not look.buttons:
        return ()
    asks = (Ask.CONTINUE, Ask.RETRY) if event.finish_reason in CUT else (Ask.RETRY,)
    return tuple(_button(ask, event.turn_id) for ask in asks)


def _button(ask: Ask, turn_id: str) -> Button:
    return Button(_LABELS[ask], again_id(ask, turn_id))
