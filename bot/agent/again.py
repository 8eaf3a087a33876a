"""Asking again about the latest turn: for another answer, or for the rest of one."""

from __future__ import annotations

from bot.errors import NotLatestError
from bot.events import Ask, Author, UserMessageEvent, new_id
from bot.sessions import Session

_WORDS = {
    Ask.RETRY: "Please try that again: give me another answer to what I asked before.",
    Ask.CONTINUE: "Please go on exactly where your last answer ended, and repeat nothing of it.",
}


def asked_again(turn_id: str, ask: Ask, author: Author) -> UserMessageEvent:
    """Return the message that asks, in words for the model; it begins a turn of its own."""
    return UserMessageEvent(
        turn_id=new_id("turn"), text=_WORDS[ask], author=author, asks=ask, about=turn_id
    )


def check_latest(session: Session, turn_id: str) -> None:
    """Refuse to ask about a turn that is not the latest, or while one has no end yet.

    Raises:
        NotLatestError: if so.
    """
    if session.open_turns:
        raise NotLatestError(busy=True)
    said = (e.turn_id for e in reversed(session.events) if isinstance(e, UserMessageEvent))
    if next(said, "") != turn_id:
        raise NotLatestError(busy=False)
