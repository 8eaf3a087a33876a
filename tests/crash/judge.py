"""Judges what a killed bot left: from what people see in Discord, and from what its tools did.

It knows nothing of the bot but its words: no log, no database, no memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from bot.sandbox import Message, Place, User
from tests.crash.mind import Plan

CARD = re.compile(r"\*\*(May I run|Approved by|Denied by|Withdrawn by|Expired:|Not decided:)")
LINE = re.compile(r'"line": "([\w.]+)"')
TOKEN = re.compile(r"\bq\d+\b")
RAN = "It ran and ended well."
NOT_RUN = ("It did not run.", "It was cancelled.", "Not decided:")
ENDED = (RAN, *NOT_RUN, "It was started; what came of it is unknown.", "It has no result.")


class Fate(Enum):
    """What may become of a message."""

    ANSWERED = auto()
    FAILED = auto()
    STOPPED = auto()
    FORGOTTEN = auto()  # by a reset
    SKIPPED = auto()  # too old when the bot came back


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A message of somebody, and what may become of it.

    Attributes:
        place: Where the answer belongs.
        ran: Whether the gated calls may run.
    """

    token: str
    plan: Plan
    message: Message
    place: Place
    fates: frozenset[Fate] = frozenset({Fate.ANSWERED})
    ran: bool = True


class Kind(Enum):
    """What a message of the bot is, by its words."""

    CARD = auto()
    FAILURE = auto()
    STOPPED = auto()
    SKIPPED = auto()
    NOTICE = auto()
    FILES = auto()
    ANSWER = auto()


SUMMARISED = "-# I summarised"
NOTICES = ("This waits for a decision on", "I may not open threads", "*One moment", SUMMARISED)
SKIPS = ("I was away for too long",)


def kind_of(message: Message) -> Kind:
    """Return what a message of the bot is."""
    text = message.content
    if CARD.match(text):
        return Kind.CARD
    if "(reference " in text:
        return Kind.FAILURE
    if text == "Stopped.":
        return Kind.STOPPED
    if text.startswith("-# Made by"):
        return Kind.FILES
    if text.startswith(SKIPS):
        return Kind.SKIPPED
    if text.startswith(NOTICES) or "began the conversation anew" in text:
        return Kind.NOTICE
    return Kind.ANSWER


def judge(place: Place, bot: User, asked: Sequence[Asked], lines: Sequence[str]) -> list[str]:
    """Return everything that is wrong in a place, and with what the tools did for it."""
    said = [each for each in place.messages if each.author is bot]
    here = [each for each in asked if each.place is place]
    first = min((each.message.id for each in here), default=0)
    said = [each for each in said if each.id > first]
    wrong = [f"a button is left: {each.line()}" for each in said if _unfinished(each)]
    wrong += [f"no file: {e.line()}" for e in said if kind_of(e) is Kind.FILES and not _files(e)]
    wrong += [f"nobody asked for {each.line()}" for each in _strange(said, here)]
    for each in here:
        wrong += _about(each, said, lines)
    wrong += _order(said, here)
    wrong += [f"{p.by.name} pings {p.who}" for p in place.world.pings if p.message in said]
    return wrong


def _unfinished(message: Message) -> bool:
    """Whether a message has a button of something that goes on, or waits."""
    return any(button.get("label") in {"Stop", "Approve", "Deny"} for button in message.buttons)


def _strange(said: Sequence[Message], asked: Sequence[Asked]) -> Iterator[Message]:
    known = {each.token for each in asked}
    for message in said:
        tokens = set(TOKEN.findall(message.content))
        needs_one = kind_of(message) in (Kind.ANSWER, Kind.CARD)
        if not tokens <= known or (needs_one and len(tokens) != 1):
            yield message


def _about(asked: Asked, said: Sequence[Message], lines: Sequence[str]) -> Iterator[str]:
    yield from _fate(asked, said)
    yield from _calls(asked, said, lines)


def _fate(asked: Asked, said: Sequence[Message]) -> Iterator[str]:
    text = "".join(_dense(each.content) for each in _answers(asked, said))
    told = Counter(kind_of(each) for each in said if _is_about(asked, each))
    befores = {_dense(each) for each in asked.plan.befores(asked.token)}
    answers = {_dense(each) for each in asked.plan.answers(asked.token)}
    whole = any(text == before + answer for before in befores for answer in answers)
    partly = text == "" or any(
        (before + answer).startswith(text) for before in befores for answer in answers
    )
    skipped = any(kind_of(each) is Kind.SKIPPED for each in (*said, *_replies(asked)))
    fates = {
        Fate.ANSWERED: whole and not told[Kind.FAILURE] + told[Kind.STOPPED],
        Fate.FAILED: partly and told[Kind.FAILURE] == 1 and not told[Kind.STOPPED],
        Fate.STOPPED: partly and not whole and told[Kind.STOPPED] == 1 and not told[Kind.FAILURE],
        Fate.FORGOTTEN: partly and not whole and not told[Kind.FAILURE],
        Fate.SKIPPED: text == "" and skipped and not told[Kind.FAILURE],
    }
    if not any(fates[each] for each in asked.fates):
        wanted = " or ".join(sorted(each.name for each in asked.fates))
        shown = [each.line() for each in _answers(asked, said)]
        yield f"{asked.token} is not {wanted}: {dict(told)}, answers {shown}"


def _replies(asked: Asked) -> Iterator[Message]:
    """Give what refers to a message where it was written, which may be beside its thread."""
    return (each for each in asked.message.place.messages if refers_to(each, asked.message))


def _answers(asked: Asked, said: Sequence[Message]) -> list[Message]:
    return [
        each
        for each in said
        if kind_of(each) is Kind.ANSWER and asked.token in TOKEN.findall(each.content)
    ]


def _is_about(asked: Asked, message: Message) -> bool:
    """Whether a message answers it: it refers to it, or stands in the thread that hangs on it."""
    if message.reference is None:
        return message.place.id == asked.message.id or asked.token in message.content
    return refers_to(message, asked.message)


def refers_to(message: Message, other: Message) -> bool:
    """Whether a message is a reply to another one."""
    return message.reference is not None and message.reference.message_id == other.id


def _calls(asked: Asked, said: Sequence[Message], lines: Sequence[str]) -> Iterator[str]:
    for tool, line in asked.plan.calls:
        ran = lines.count(line)
        if ran > 1:
            yield f"{line} ran {ran} times"
        if tool == "burn":
            yield from _card(asked, line, ran, said)
        shown = [name for each in said for name in _files(each)].count(f"{line}.txt")
        if shown > (ran if tool == "draw" else 0):
            yield f"{line} ran {ran} times, and its file is shown {shown} times"


def _files(message: Message) -> list[str]:
    return [each.filename for each in message.attachments]


def _card(asked: Asked, line: str, ran: int, said: Sequence[Message]) -> Iterator[str]:
    cards = [each for each in said if kind_of(each) is Kind.CARD and line in _lines(each)]
    if len(cards) > 1 or (not cards and asked.fates == {Fate.ANSWERED}):
        yield f"{line} has {len(cards)} cards"
    if not asked.ran and ran:
        yield f"{line} ran, and nobody said yes"
    for card in cards:
        if not any(each in card.content for each in ENDED):
            yield f"a card is not final: {card.line()}"
        if RAN in card.content and not ran:
            yield f"{line} did not run, and its card says that it did"
        if any(each in card.content for each in NOT_RUN) and ran:
            yield f"{line} ran, and its card says that it did not"


def _lines(card: Message) -> list[str]:
    return LINE.findall(card.content)


def _order(said: Sequence[Message], asked: Sequence[Asked]) -> Iterator[str]:
    first = [(each, _answers(each, said)) for each in asked]
    starts = [(found[0].id, each.token) for each, found in first if found]
    if starts != sorted(starts):
        yield f"answers are not in the order of the messages: {starts}"


def _dense(text: str) -> str:
    return "".join(text.split())
