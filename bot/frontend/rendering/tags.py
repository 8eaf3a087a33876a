"""HTML tags, as what Discord has for them."""

from __future__ import annotations

import re
from html import unescape

from bot.frontend.rendering.grammar import Pair, Scan, Span

Edit = tuple[int, int, str]
RULE = "─" * 16
_TAG = re.compile(r"<\s*(/?)\s*([A-Za-z][A-Za-z0-9]*)([^>]*)>")
_HREF = re.compile(r"""\b(?:href|src)\s*=\s*["']?(https?://[^\s"'<>]+)""")
_STYLES = dict.fromkeys(("b", "strong", "summary", "h1", "h2", "h3", "h4", "h5", "h6"), "**")
_STYLES |= dict.fromkeys(("i", "em"), "*") | {"u": "__", "ins": "__"}
_STYLES |= dict.fromkeys(("s", "del", "strike"), "~~") | dict.fromkeys(("code", "kbd", "tt"), "`")
_LAYOUT = frozenset(
    ("details", "p", "div", "span", "sub", "sup", "center", "font", "small", "mark", "big")
)


def tags(scan: Scan, content: str) -> list[Edit]:
    """Change the tags that Discord has a style for, and take out comments and mere layout."""
    edits: list[Edit] = []
    still_open: list[tuple[str, str, Span]] = []
    for span in scan.spans:
        if span.rule != "html_inline":
            continue
        text = content[span.start : span.end]
        if text.startswith("<!--"):
            edits.append((span.start, span.end + _alone(span, content), ""))
        elif found := _TAG.match(text):
            edits += _tag(scan, span, found, still_open)
            if edits and edits[-1] == (span.start, span.end, "") and _alone(span, content):
                edits[-1] = (span.start, span.end + 1, "")
    return edits


def _alone(span: Span, content: str) -> bool:
    """Whether a tag has a line of its own, and not the last."""
    before = content[span.start - 1] if span.start else "\n"
    return before == "\n" and content[span.end : span.end + 1] == "\n"


def _tag(
    scan: Scan, span: Span, tag: re.Match[str], still_open: list[tuple[str, str, Span]]
) -> list[Edit]:
    name, rest = tag[2].lower(), unescape(tag[3])
    if name in _LAYOUT:
        return [(span.start, span.end, "")]
    if name in {"br", "hr"}:
        return [(span.start, span.end, "\n" if name == "br" else RULE)]
    if name == "img" and (source := _HREF.search(rest)):
        return [(span.start, span.end, source[1])]
    if not tag[1]:
        still_open.append((name, rest, span))
        return []
    return _closed(scan, span, name, still_open)


def _closed(
    scan: Scan, span: Span, name: str, still_open: list[tuple[str, str, Span]]
) -> list[Edit]:
    """Return the changes of a tag and the one that opened it."""
    while still_open:
        opened, attributes, opener = still_open.pop()
        if opened != name:
            continue
        if name == "a" and (target := _HREF.search(attributes)):
            scan.spans.append(Span("link", opener.start, span.end, []))
            edits = "[", f"]({target[1]})"
        elif marker := _STYLES.get(name):
            scan.pairs.append(Pair(opener.start, span.end, marker))
            edits = marker, marker
        else:
            break
        return [(opener.start, opener.end, edits[0]), (span.start, span.end, edits[1])]
    return []
