"""The grammar: CommonMark with tables, and what Discord and models write beside it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token

from bot.frontend.rendering import rules

Rule = Callable[[StateInline, bool], bool]

_PAIRED = frozenset({"emphasis", "strikethrough", "spoiler"})
_MARKERS = _PAIRED | {"backticks"}
_MARK = re.compile(r"[\[!<$\\]|\*+|_+|~+|`+|\|{1,2}")
_MEANT = re.compile(r"[\n!$&*<\[\]\\_`~|]")  # where a text may be more than words
STYLES = 20  # in each other
LEVELS = 100  # of quotes and lists; each level of a list counts twice
NEAR = 2000  # code points, in which a paragraph shows what it is like
MOST_MARKS = 300  # there, and thrice in all; more is noise, and would take long to read
DENSE = 150  # marks with which nobody reads further to find what is open


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
        dense: Whether there are so many marks that what is open among them tells nothing.
    """

    spans: list[Span] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    dense: bool = False


def marks(text: str) -> int:
    """Return how many marks a text has that may begin or end something: the cost of reading it.

    Of few it is told only that they are few.
    """
    count = sum(map(text.count, "[!<$\\*_~`|"))
    return count if count <= DENSE else len(_MARK.findall(text))


def is_noise(text: str) -> bool:
    """Tell whether a text has so many marks that it is shown as it is, unread."""
    count = marks(text)
    return count > 3 * MOST_MARKS or (count > MOST_MARKS and marks(text[:NEAR]) > MOST_MARKS)


@cache
def grammar(nesting: int = STYLES) -> MarkdownIt:
    """Return the parser; it keeps nothing between two texts.

    What is nested deeper, and all behind it, is not read.
    """
    md = MarkdownIt("commonmark", {"maxNesting": nesting}).enable(["table", "strikethrough"])
    # Discord knows none of these: a definition, a tag and an indented line are lines of text.
    md.disable(["reference", "html_block", "code"])
    md.block.ruler.before(
        "fence", "math_block", rules.math_block, {"alt": ["paragraph", "blockquote", "list"]}
    )
    inline = md.inline
    inline.terminator_re = _MEANT  # fewer than by default: each costs a try of every rule
    inline.ruler.before("escape", "math", rules.math)
    inline.ruler.before("link", "footnote", rules.footnote)
    inline.ruler.before("autolink", "discord", rules.discord)
    inline.ruler.push("spoiler", rules.spoiler)
    inline.ruler2.before("emphasis", "spoiler", rules.spoiler_tokens)
    names = inline.ruler.get_active_rules()
    for name, rule in zip(names, inline.ruler.getRules(""), strict=True):
        inline.ruler.at(name, _noting(name, rule))
    return md


def block_tokens(text: str) -> list[Token]:
    """Parse a text into blocks; what is inside of a paragraph is not looked at."""
    tokens: list[Token] = []
    md = grammar(LEVELS)
    md.block.parse(text.replace("\0", "\ufffd"), md, {}, tokens)
    return tokens


def inline_tokens(text: str) -> list[Token]:
    """Parse what is inside of a paragraph; noise is text."""
    if is_noise(text):
        return [Token("text", "", 0, content=text)]
    tokens: list[Token] = []
    grammar().inline.parse(text, grammar(), {}, tokens)
    return tokens


def scan(text: str) -> Scan:
    """Find the inline constructs of a paragraph's text; noise has none."""
    found = Scan()
    found.dense = marks(text) > DENSE
    if found.dense and is_noise(text):
        return found
    md = grammar()
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
    closed: set[int] = set()
    for start, end, marker in found.pairs:
        closed.update(range(start, start + len(marker)), range(end - len(marker), end))
    return [
        text[span.start : span.end]
        for span in found.spans
        if span.rule in _MARKERS
        and not is_code(span)
        and not closed.issuperset(range(span.start, span.end))
    ]


def is_code(span: Span) -> bool:
    """Tell whether a span is code: a run of backticks that nothing ends is none."""
    return span.rule == "backticks" and any(t.type == "code_inline" for t in span.tokens)


def _code(span: Span, text: str) -> Pair:
    body = text[span.start : span.end].lstrip("`")
    return Pair(span.start, span.end, "`" * (span.end - span.start - len(body)))
