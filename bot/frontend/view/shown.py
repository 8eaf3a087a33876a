"""What people should see: one value for each message, whatever shows it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from bot.events import Ask


class Purpose(StrEnum):
    """What a message is for."""

    ANSWER = "answer"
    FILES = "files"
    CARD = "card"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Names one message: the turn, what of it, what for, and which part.

    `subject` is a model call (``m0``, ``m1``, ...), an approval or call id, or a word such as
    ``end``.
    """

    turn_id: str
    subject: str
    purpose: Purpose
    part: int = 0

    @property
    def text(self) -> str:
        """The key as one short text, as it travels in the `custom_id` of a button."""
        return f"{self.turn_id}:{self.subject}:{self.part}"


@dataclass(frozen=True, slots=True)
class Button:
    """A button; `style` is one of discord.py's names."""

    label: str
    custom_id: str
    style: str = "secondary"


@dataclass(frozen=True, slots=True)
class Blob:
    """Stored bytes, by their hash."""

    sha256: str


@dataclass(frozen=True, slots=True)
class File:
    """A file that belongs to a message."""

    name: str
    data: str | Blob


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One message that people should see.

    Attributes:
        key: Names it.
        content: Its text, at most 2,000 code points, never blank.
        reply_to: The source id of the message it answers.
        asked: The source id of the message that began its turn: it was written after that.
        for_approvers: Whether it belongs in the channel for requests, if there is one.
        brief: Of a card what it says without the arguments.
        final: Whether nothing in the log can change it any more.
    """

    key: Key
    content: str
    buttons: tuple[Button, ...] = ()
    files: tuple[File, ...] = ()
    reply_to: str | None = None
    asked: str | None = None
    brief: str = ""
    for_approvers: bool = False
    final: bool = True

    @property
    def asks(self) -> bool:
        """Whether it is a card that waits for a decision."""
        return self.key.purpose is Purpose.CARD and bool(self.buttons)

    @property
    def content_hash(self) -> str:
        """Tells whether a message shows this already."""
        parts = (self.content, repr(self.buttons), repr(self.files))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def stop_id(key: Key) -> str:
    """Return the `custom_id` of the stop button on a message being written."""
    return f"stop:{key.text}"


def again_id(ask: Ask, turn_id: str) -> str:
    """Return the `custom_id` of a button that asks about a turn."""
    return f"{ask}:{turn_id}"


def take_back_id(name: str) -> str:
    """Return the `custom_id` of a button that takes back what a receipt tells."""
    return f"back:{name}"


def undo_id(seq: int) -> str:
    """Return the `custom_id` of the button that takes a reset back."""
    return f"undo:{seq}"


def approve_id(approval_id: str) -> str:
    """Return the `custom_id` of a card's first button."""
    return f"approve:{approval_id}"


def deny_id(approval_id: str) -> str:
    """Return the `custom_id` of a card's second button."""
    return f"deny:{approval_id}"


def instead_id(waiting: str, turn_id: str) -> str:
    """Return the `custom_id` of the button that ends a waiting turn for the sake of another."""
    return f"instead:{waiting}:{turn_id}"


def marks(shown: Shown) -> frozenset[str]:
    """Return the `custom_id`s by which a message can be found in its channel."""
    key = shown.key
    if key.purpose is Purpose.CARD:
        return frozenset({approve_id(key.subject), deny_id(key.subject)})
    return frozenset({stop_id(key), *(button.custom_id for button in shown.buttons)})
