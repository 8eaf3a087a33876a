"""Text on its way in and out, made safe to show and to read."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from bot.agent.history.untrusted import speaker_name as speaker_name
from bot.agent.history.visible import one_line as one_line

THREAD_NAME_LENGTH = 80  # Discord allows 100

_MENTION = re.compile(r"<(@!?|@&|#)(\d{1,20})>")
_MARKDOWN = re.compile(r"([\\`*_~|#\[\]<>])")


def plain(text: str, limit: int = 300) -> str:
    """Return a text on one line that Discord shows as it is, without any markup."""
    return _MARKDOWN.sub(r"\\\1", one_line(text, limit))


def code(text: str, limit: int = 100) -> str:
    """Return a text on one line in code style; nothing in it can end the style."""
    return f"`{one_line(text, limit).replace('`', '') or ' '}`"


def thread_name(text: str) -> str:
    """Return the name of a thread for a conversation that begins with a text."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return one_line(first, THREAD_NAME_LENGTH) or "Conversation"


def readable(content: str, own: frozenset[str], name_of: Callable[[str, int], str | None]) -> str:
    """Return a message's text with its mentions as names.

    Args:
        content: As Discord gave it.
        own: The mentions of the bot itself, such as ``<@1>``: they are taken out.
        name_of: Returns the name for a mention's mark (``@``, ``@&``, ``#``) and id.
    """

    def replaced(mention: re.Match[str]) -> str:
        mark = mention[1].rstrip("!")
        if f"<{mark}{mention[2]}>" in own:
            return ""
        name = name_of(mark, int(mention[2]))
        return mention[0] if name is None else f"{mark[0]}{one_line(name, 100)}"

    return _MENTION.sub(replaced, content).strip()


def relative_time(moment: datetime) -> str:
    """Return a moment as Discord shows it to everyone in their own words: in 3 hours."""
    return f"<t:{int(moment.timestamp())}:R>"
