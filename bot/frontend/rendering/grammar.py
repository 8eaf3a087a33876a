"""The grammar: CommonMark with tables, and what Discord and models write beside it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token

Rule = Callable[[StateInline, bool], bool]

# Mentions, timestamps, custom emoji and commands, as Discord's "Message Formatting" lists them.
_DISCORD = re.compile(
    r"<(?:@[!&]?\d+|#\d+|t:-?\d+(?::[A-Za-z])?|a?:\w+:\d+|/[^<>\n:]+:\d+|id:\w+)>"
)
_FOOTNOTE = re.compile(r"\[\^([^\[\]\s^]+)\](:[ \t]*)?")
_DOLLARS = re.compile(r"\$(?![\s$])([^$\n]{0,200}?[\\^_={}][^$\n]{0,200}?)(?<![\s\\])\$(?!\d)")
_MATH = re.compile(r"\\\((.{1,500}?)\\\)|\\\[(.{1,500}?)\\\]|\$\$([^$]{1,500}?)\$\$", re.DOTALL)
_MATH_FENCES = {"$$": "$$", "\\[": "\\]"}
_PAIRED = frozenset({"emphasis", "strikethrough", "spoiler"})
_MARKERS = _PAIRED | {"backticks"}


class Span(NamedTuple):
    """What one inline rule took."""

    rule: str
    start: int
    end: int
    tokens: list[Token]


class Pair(NamedTuple):
    """A style: where its opener begins, and its closer ends."""

    start: int
    end: int
    marker: str


@dataclass(slots=True)
class Scan:
    """The inline constructs of a text, with their places in it.

    Attributes:
        spans: The outermost constructs, in order, each one whole.
        pairs: What is styled, the outer ones first.
    """

    spans: list[Span] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)


@cache
def grammar() -> MarkdownIt:
    """Return the parser; it keeps nothing between two texts."""
    md = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    # Discord knows none of these: a definition, a tag and an indented line are lines of text.
    md.disable(["reference", "html_block", "code"])
    md.block.ruler.before(
        "fence", "math_block", _math_block, {"alt": ["paragraph", "blockquote", "list"]}
    )
    inline = md.inline
    inline.add_terminator_char("|")
    inline.ruler.before("escape", "math", _math)
    inline.ruler.before("link", "footnote", _footnote)
    inline.ruler.before("autolink", "discord", _discord)
    inline.ruler.push("spoiler", _spoiler)
    inline.ruler2.before("emphasis", "spoiler", _spoiler_tokens)
    names = inline.ruler.get_active_rules()
    for name, rule in zip(names, inline.ruler.getRules(""), strict=True):
        inline.ruler.at(name, _noting(name, rule))
    return md


def block_tokens(text: str) -> list[Token]:
    """Parse a text into blocks; what is inside of a paragraph is not looked at."""
    tokens: list[Token] = []
    grammar().block.parse(text.replace("\0", "\ufffd"), grammar(), {}, tokens)
    return tokens


def inline_tokens(text: str) -> list[Token]:
    """Parse what is inside of a paragraph."""
    tokens: list[Token] = []
    grammar().inline.parse(text, grammar(), {}, tokens)
    return tokens


def scan(text: str) -> Scan:
    """Find the inline constructs of a paragraph's text."""
    md = grammar()
    found = Scan()
    state = StateInline(text, md, {"spans": found.spans}, [])
    md.inline.tokenize(state)
    for rule in md.inline.ruler2.getRules(""):
        rule(state)
    found.pairs = sorted(_pairs(found.spans, state.delimiters, text))
    return found


def _noting(name: str, rule: Rule) -> Rule:
    """Let a rule tell in `env` what it took, unless it is inside of something else."""

    def noting(state: StateInline, silent: bool) -> bool:
        if silent or state.level or "spans" not in state.env:
            return rule(state, silent)
        start, first = state.pos, len(state.tokens)
        ok = rule(state, silent)
        if ok and name not in {"text", "newline"}:
            state.env["spans"].append(Span(name, start, state.pos, state.tokens[first:]))
        return ok

    return noting


def _pairs(spans: list[Span], delimiters: list[Delimiter], text: str) -> list[Pair]:
    places: list[tuple[int, int]] = []
    for span in spans:
        if span.rule in _PAIRED:
            width = 1 if span.rule == "emphasis" else 2
            first = span.start + (span.end - span.start) % width
            places += [(at, at + width) for at in range(first, span.end, width)]
    styled = [
        Pair(start, places[delimiter.end][1], text[start:end])
        for (start, end), delimiter in zip(places, delimiters, strict=True)
        if delimiter.end >= 0
    ]
    return styled + [_code(span, text) for span in spans if is_code(span)]


def open_markers(found: Scan, text: str) -> list[str]:
    """Return the markers that nothing closes, in order."""
    ends = {pair.start for pair in found.pairs} | {pair.end for pair in found.pairs}
    return [
        text[span.start : span.end]
        for span in found.spans
        if span.rule in _MARKERS and not ends.intersection(range(span.start, span.end + 1))
    ]


def is_code(span: Span) -> bool:
    """Tell whether a span is code: a run of backticks that nothing ends is none."""
    return span.rule == "backticks" and any(t.type == "code_inline" for t in span.tokens)


def _code(span: Span, text: str) -> Pair:
    body = text[span.start : span.end].lstrip("`")
    return Pair(span.start, span.end, "`" * (span.end - span.start - len(body)))


def _take(state: StateInline, silent: bool, kind: str, content: str, end: int) -> bool:
    if not silent:
        token = state.push(kind, "", 0)
        token.content = content
    state.pos = end
    return True


def _discord(state: StateInline, silent: bool) -> bool:
    found = _DISCORD.match(state.src, state.pos, state.posMax)
    return found is not None and _take(state, silent, "discord", found[0], found.end())


def _footnote(state: StateInline, silent: bool) -> bool:
    found = _FOOTNOTE.match(state.src, state.pos, state.posMax)
    if found is None or state.src.startswith("(", found.end()):
        return False
    defines = found[2] and (state.pos == 0 or state.src[state.pos - 1] == "\n")
    end = found.end() if defines else found.end(1) + 1
    return _take(state, silent, "footnote_anchor" if defines else "footnote_ref", found[1], end)


def _math(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "\\$":
        return False
    for pattern in (_MATH, _DOLLARS):
        found = pattern.match(state.src, state.pos, state.posMax)
        if found is not None:
            content = next(filter(None, found.groups()), "")
            return _take(state, silent, "math_inline", content.strip(), found.end())
    return False


def _math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
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


def _spoiler(state: StateInline, silent: bool) -> bool:
    if silent or not state.src.startswith("||", state.pos):
        return False
    _take(state, silent, "text", "||", state.pos + 2)
    last = len(state.tokens) - 1
    state.delimiters.append(Delimiter(ord("|"), 0, last, -1, open=True, close=True))
    return True


def _spoiler_tokens(state: StateInline) -> None:
    metas: list[dict[str, Any]] = [meta for meta in state.tokens_meta if meta]
    for delimiters in (state.delimiters, *(meta.get("delimiters", []) for meta in metas)):
        for delimiter in delimiters:
            if delimiter.marker == ord("|") and delimiter.end >= 0:
                _restyle(state.tokens[delimiter.token], "spoiler_open", 1)
                _restyle(state.tokens[delimiters[delimiter.end].token], "spoiler_close", -1)


def _restyle(token: Token, kind: str, nesting: Any) -> None:
    token.type, token.nesting, token.markup, token.content = kind, nesting, "||", ""
