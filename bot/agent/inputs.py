"""What people say to an agent, checked and made into events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.events import Attachment, Author, Quote, Recalled, UserMessageEvent, new_id

MAX_TEXT = 1_000_000
"""Characters of one message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """One message, with where it came from.

    Attributes:
        text: May be empty when there is something else.
        author: Who wrote it; with a name, the model is told who speaks.
        attachments: Files whose bytes are blobs of the store.
        source_id: Names the message where it came from; a second run of it is a duplicate.
        quotes: What came with it that its author did not write.
        notes: Sentences on what of it could not be read.
        recalled: What is remembered of its author, for the model.
    """

    text: str
    author: Author | None = None
    attachments: tuple[Attachment, ...] = ()
    source_id: str | None = None
    quotes: tuple[Quote, ...] = ()
    notes: tuple[str, ...] = ()
    recalled: tuple[Recalled, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing at all."""
        return not (self.text.strip() or self.attachments or self.quotes or self.notes)


UserInput = str | UserMessage | Sequence[str | UserMessage]


def user_events(user_input: UserInput, user_id: str | None) -> list[UserMessageEvent]:
    """Return the events of one turn.

    Raises:
        ValueError: if there is nothing in it, something that is no message, or a text of over a
            million characters.
    """
    messages = [_message(each) for each in _several(user_input)]
    if not messages:
        raise ValueError("there is no message")
    turn_id = new_id("turn")
    return [_event(message, turn_id, user_id) for message in messages]


def _several(user_input: object) -> Sequence[object]:
    if isinstance(user_input, Sequence) and not isinstance(user_input, str | bytes):
        return user_input
    return [user_input]


def _message(said: object) -> UserMessage:
    if isinstance(said, UserMessage):
        return said
    if isinstance(said, str):
        return UserMessage(text=said)
    raise ValueError(f"a message is a text or a UserMessage, not {type(said).__name__}")


def _event(message: UserMessage, turn_id: str, user_id: str | None) -> UserMessageEvent:
    if message.is_empty:
        raise ValueError("a message has a text or an attachment")
    if len(message.text) + sum(len(each.text) for each in message.quotes) > MAX_TEXT:
        raise ValueError(f"a message has at most {MAX_TEXT:,} characters")
    return UserMessageEvent(
        turn_id=turn_id,
        text=message.text,
        author=message.author or (Author(user_id=user_id) if user_id else None),
        attachments=message.attachments,
        source_id=message.source_id,
        quotes=message.quotes,
        notes=message.notes,
        recalled=message.recalled,
    )
