"""Reasoning that a model leaks into its answer as `<think>` text, told apart from the answer.

A tag counts outside of code only: an opening one at the beginning of a line, or after another tag;
a closing one without an opening one where a line begins or ends, and then all since the last
reasoning was reasoning. What nothing closes is reasoning to the end.
"""

from __future__ import annotations

import re

from bot.agent.model.growing import Growing

_TAG = re.compile(
    r"<[ \t]{0,5}(/?)[ \t]{0,5}(?:think|thinking|thought|reasoning)\b[^<>\n]{0,40}>", re.IGNORECASE
)
_TOKEN = re.compile(rf"(?<=\n)[ \t>]*(```|~~~)|{_TAG.pattern}", re.IGNORECASE)
_LONGEST_TAG = 70
_HEAD = re.compile(r"\n?[ \t>]*[`~]{0,2}\Z")


def split_reasoning(text: str) -> tuple[str, str]:
    """Return a text's answer and its reasoning; without tags the answer is the text."""
    reader = Reasoning()
    reader.add(text)
    reader.close()
    return reader.answer, reader.reasoning


class Reasoning:
    """Tells the two apart while the text grows. What may be half a tag is held back."""

    def __init__(self) -> None:
        self._answer = Growing()
        self._since = 0  # from here on nothing of the answer is before a reasoning
        self._thoughts = Growing()
        self._has_thought = False  # whether there was any, be it nothing
        self._held = ""
        self._before = "\n"  # what was read last: a character
        self._blank = True  # whether nothing but blanks and tags was in the line so far
        self._shown = False  # whether the answer has more than blanks
        self._thinking = False
        self._fence = ""
        self._revised = False

    @property
    def answer(self) -> str:
        """The answer so far."""
        return str(self._answer)

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        return str(self._thoughts).strip()

    def add(self, chunk: str) -> str | None:
        """Read more, and return what the answer grew by.

        `None` means that what was taken for the answer so far is reasoning: `answer` is anew.
        """
        text = self._held + chunk
        safe = _safe(text)
        self._held = text[safe:]
        return self._grown(text, safe)

    def close(self) -> str | None:
        """Read what was held back: nothing more comes."""
        held, self._held = self._held, ""
        return self._grown(held, len(held))

    def _grown(self, text: str, end: int) -> str | None:
        known, self._revised = len(self._answer), False
        self._read(self._before + text, end + 1)
        self._before = text[end - 1] if end else self._before
        return None if self._revised else self._answer.since(known)

    def _read(self, text: str, end: int) -> None:
        """Read a text up to a place; its first character was read before."""
        at = 1
        for token in _TOKEN.finditer(text, 1, end):
            self._take(text[at : token.start()])
            at = token.end()
            if token[1]:
                self._mark(token)
            elif not self._is_tag(text, token):
                self._take(token[0])
        self._take(text[at:end])

    def _mark(self, token: re.Match[str]) -> None:
        """Read what a code block may begin or end with."""
        self._take(token[0])
        if not self._thinking and self._fence in {"", token[1]}:
            self._fence = "" if self._fence else token[1]

    def _is_tag(self, text: str, token: re.Match[str]) -> bool:
        """Read a tag, if it is one and not something that is talked about."""
        after = text[token.end() : token.end() + 1]
        if not self._thinking and (self._fence or "`" in {text[token.start() - 1], after}):
            return False
        if self._thinking:
            self._thinking = not token[2]
        elif not token[2]:
            self._thinking = self._blank
            return self._blank
        elif self._blank or after in {"", "\n", "\r"}:
            self._was_reasoning()
        else:
            return False
        self._blank, self._since = True, len(self._answer)
        return True

    def _was_reasoning(self) -> None:
        taken = self._answer.cut(self._since)
        self._thoughts.add(taken)
        self._has_thought = self._has_thought or bool(taken)
        self._revised = self._revised or bool(taken)
        self._shown = bool(self.answer.strip())

    def _take(self, text: str) -> None:
        if self._thinking:
            self._thoughts.add(text)
            self._has_thought = True
            return
        if self._has_thought and not self._shown:
            text = text.lstrip()
        if text:
            self._shown = self._shown or not text.isspace()
            self._blank = not text.rpartition("\n")[2].strip() and ("\n" in text or self._blank)
            self._answer.add(text)


def _safe(text: str) -> int:
    """Return how much of a text can be read before it is known how it goes on."""
    opened = text.rfind("<", max(len(text) - _LONGEST_TAG, 0))
    closed = text.find(">", opened) + 1 if opened >= 0 else 0
    if opened >= 0 and closed in {0, len(text)}:
        return opened
    head = _HEAD.match(text, max(text.rfind("\n"), 0))
    return head.start() if head else len(text)
