"""Reasoning as people are shown it, if they are."""

from __future__ import annotations

from bot.frontend.text import plain

MOST_SHOWN = 700
"""Characters of reasoning that people are shown."""


def folded(reasoning: str) -> str:
    """Return reasoning as one small line in a spoiler, cut; without any, nothing.

    Nothing in it can end the spoiler, which Discord does at the first two bars side by side, or
    show as anything but text.
    """
    line = plain(reasoning, MOST_SHOWN).replace("://", ":\\//")
    return f"-# || {line} ||" if line else ""
