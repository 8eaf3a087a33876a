"""Rules for markdown-it: what Discord and models write beside CommonMark."""

from __future__ import annotations

import re
from typing import Any

from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token

# Mentions, timestamps, custom emoji and commands, as Discord's "Message Formatting" lists them.
_DISCORD = re.compile(
    r"<(?:@[!&]?\d+|#\d+|t:-?\d+(?::[A-Za-z])?|a?:\w+:\d+|/[^<>\n:]+:\d+|id:\w+)>"
)
_FOOTNOTE = re.compile(r"\[\^([^\[\]\s^]+)\](:[ \t]*)?")
_DOLLARS = re.compile(r"\$(?![\s$])([^$\n]{0,200}?[\\^_={}][^$\n]{0,200}?)(?<![\s\\])\$(?!\d)")
_MATH = re.compile(r"\\\((.{1,500}?)\\\)|\\\[(.{1,500}?)\\\]|\$\$([^$]{1,500}?)\$\$", re.DOTALL)
_MATH_FENCES = {"$$": "$$", "\\[": "\\]"}


def _take(state: StateInline, silent: bool, kind: str, content: str, end: int) -> bool:
    if not silent:
        token = state.push(kind, "", 0)
        token.content = content
    state.pos = end
    return True


def discord(state: StateInline, silent: bool) -> bool:
    """Take a mention, a timestamp, a custom emoji or a command."""
    found = _DISCORD.match(state.src, state.pos, state.posMax)
    return found is not None and _take(state, silent, "discord", found[0], found.end())


def footnote(state: StateInline, silent: bool) -> bool:
    """Take a footnote's mark, in the text or before its own."""
    found = _FOOTNOTE.match(state.src, state.pos, state.posMax)
    if found is None or state.src.startswith("(", found.end()):
        return False
    defines = found[2] and (state.pos == 0 or state.src[state.pos - 1] == "\n")
    end = found.end() if defines else found.end(1) + 1
    return _take(state, silent, "footnote_anchor" if defines else "footnote_ref", found[1], end)


def math(state: StateInline, silent: bool) -> bool:
    """Take a formula in a line."""
    if state.src[state.pos] not in "\\$":
        return False
    for pattern in (_MATH, _DOLLARS):
        found = pattern.match(state.src, state.pos, state.posMax)
        if found is not None:
            content = next(filter(None, found.groups()), "")
            return _take(state, silent, "math_inline", content.strip(), found.end())
    return False


def math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Take a formula on lines of its own."""
    opener = _line(state, start)
    closer = _MATH_FENCES.get(opener)
    if closer is None:
        return False
    for line in range(start + 1, end):
        text = _line(state, line)
        if (
            not text
            or state.sCount[line] < state.blkIndent
            or (text == closer and line == start + 1)
        ):
            return False
        if text == closer:
            if not silent:
                token = state.push("math_block", "", 0)
                token.map = [start, line + 1]
                token.content = state.getLines(start + 1, line, state.blkIndent, True)
            state.line = line + 1
            return True
    return False


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()


def spoiler(state: StateInline, silent: bool) -> bool:
    """Take what a spoiler begins or ends with."""
    if silent or not state.src.startswith("||", state.pos):
        return False
    _take(state, silent, "text", "||", state.pos + 2)
    last = len(state.tokens) - 1
    state.delimiters.append(Delimiter(ord("|"), 0, last, -1, open=True, close=True))
    return True


def spoiler_tokens(state: StateInline) -> None:
    """Make tokens of the spoilers that are closed."""
    metas: list[dict[str, Any]] = [meta for meta in state.tokens_meta if meta]
    for delimiters in (state.delimiters, *(meta.get("delimiters", []) for meta in metas)):
        for delimiter in delimiters:
            if delimiter.marker == ord("|") and delimiter.end >= 0:
                _restyle(state.tokens[delimiter.token], "spoiler_open", 1)
                _restyle(state.tokens[delimiters[delimiter.end].token], "spoiler_close", -1)


def _restyle(token: Token, kind: str, nesting: Any) -> None:
    token.type, token.nesting, token.markup, token.content = kind, nesting, "||", ""
