"""Text on its way in and out, made safe to show and to read."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable

NAME_LENGTH = 32
THREAD_NAME_LENGTH = 80  # Discord allows 100

# Letters and marks that Unicode calls "default ignorable" though their category looks harmless.
_HIDDEN_LETTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
)
_MENTION = re.compile(r"<(@!?|@&|#)(\d{1,20})>")
_MARKDOWN = re.compile(r"([\\`*_~|#\[\]<>])")


def hides(char: str) -> bool:
    """Whether a character shows as nothing, or changes how others show."""
    if (
        char in _HIDDEN_LETTERS
        or "\ufe00" <= char <= "\ufe0f"
        or "\U000e0100" <= char <= "\U000e01ef"
    ):
        return True
    category = unicodedata.category(char)
    return category[0] == "C" or category in {"Zl", "Zp"} or (category == "Zs" and char != " ")


def visible_json(value: object) -> str:
    """Return a value as indented JSON that hides nothing and holds no backtick.

    What would hide, and what could end a code block, stands there as a JSON escape: the text
    is still exactly the value.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=False, default=str)
    return "".join(_escaped(char) for char in text)


def _escaped(char: str) -> str:
    if char == "`":
        return "\\u0060"
    if char != "\n" and hides(char):
        return json.dumps(char)[1:-1]
    return char


def one_line(text: str, limit: int) -> str:
    """Return a text on one line, without hidden characters, cut to a length."""
    words = "".join(" " if char.isspace() else char for char in text).split(" ")
    line = "".join(char for char in " ".join(filter(None, words)) if not hides(char))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def plain(text: str, limit: int = 300) -> str:
    """Return a text on one line that Discord shows as it is, without any markup."""
    return _MARKDOWN.sub(r"\\\1", one_line(text, limit))


def code(text: str, limit: int = 100) -> str:
    """Return a text on one line in code style; nothing in it can end the style."""
    return f"`{one_line(text, limit).replace('`', '') or ' '}`"


def speaker_name(name: str) -> str:
    """Return somebody's name as the model is told it: nothing in it can look like markup."""
    bare = "".join(" " if char in "[]{}<>:\"'`" else char for char in name)
    return one_line(bare, NAME_LENGTH).strip() or "someone"


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
