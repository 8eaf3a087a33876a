"""HTML as text that a model can read: paragraphs, lists, tables, and where links lead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from yarl import URL

CHUNK = 16_384
"""Characters parsed at a time: others get Python's lock in between."""
DEEPEST = 500
"""Elements inside each other: each end tag is looked for through all that are open."""

_IGNORED = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object", "head"})
_APART = frozenset(
    {"blockquote", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "section"}
    | {"table", "ul"}
)
_BREAKS = _APART | {
    *("address", "article", "aside", "body", "dd", "div", "dt", "fieldset", "figcaption"),
    *("footer", "form", "header", "hr", "li", "main", "nav", "tr"),
}
_SPACE = re.compile(r"[ \t\n\r\f]+")


@dataclass(frozen=True, slots=True)
class Page:
    """What can be read of a page; `cut` where that is not all of it."""

    title: str
    text: str
    cut: bool


class _Enough(Exception):
    """There is more, which is not read."""


def page_of(html: str, url: URL, limit: int) -> Page:
    """Return what can be read of a page in HTML, up to about `limit` characters."""
    from lxml import etree  # type: ignore[import-untyped]  # it has no types of its own

    reader = _Reader(url, limit)
    parser = etree.HTMLParser(target=reader, huge_tree=True, encoding="utf-8")
    cut = False
    try:
        for start in range(0, len(html), CHUNK):
            parser.feed(html[start : start + CHUNK].encode("utf-8", "replace"))
        parser.close()
    except _Enough:
        cut = True
    except etree.LxmlError:  # nothing in it
        pass
    return Page(" ".join("".join(reader.title).split()), reader.text, cut)


class _Reader:
    """Hears what the parser finds, in the order of the page."""

    def __init__(self, url: URL, limit: int) -> None:
        self.title: list[str] = []
        self._base = url
        self._left = limit
        self._pieces: list[str] = []
        self._open: list[str] = []
        self._ignored = 0
        self._preformatted = 0
        self._links: list[str] = []

    @property
    def text(self) -> str:
        lines = (line.rstrip(" ") for line in "".join(self._pieces).split("\n"))
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()

    # -- what the parser calls ---------------------------------------------------------------------

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Hear that an element begins."""
        self._open.append(tag)
        if len(self._open) > DEEPEST:
            raise _Enough
        self._ignored += tag in _IGNORED
        self._preformatted += tag == "pre"
        if tag == "a":
            self._links.append(self._target(attributes.get("href") or ""))
        self._break(tag)
        if tag == "br":
            self._add("\n")
        elif tag == "li":
            self._add("- ")
        elif tag in ("td", "th") and self._is_in_line:
            self._add(" | ")
        elif tag == "img" and (alt := (attributes.get("alt") or "").strip()):
            self._add(f"(image: {_SPACE.sub(' ', alt)})")

    def end(self, tag: str) -> None:
        """Hear that an element ends."""
        self._open.pop()
        if tag == "a" and (target := self._links.pop()):
            self._add(f" ({target})")
        self._ignored -= tag in _IGNORED
        self._preformatted -= tag == "pre"
        self._break(tag)

    def data(self, text: str) -> None:
        """Hear text."""
        if "title" in self._open[-1:] and "svg" not in self._open:
            self.title.append(text[:500])
            return
        if not self._preformatted:
            text = _SPACE.sub(" ", text)
            if not self._is_in_line or self._pieces[-1].endswith(" "):
                text = text.lstrip(" ")
        self._add(text)

    def comment(self, text: str) -> None:
        """Hear a comment, which nobody sees on a page."""

    def pi(self, target: str, data: str | None = None) -> None:
        """Hear an instruction for programs."""

    def close(self) -> None:
        """Hear that there is no more."""

    # -- what becomes of it ------------------------------------------------------------------------

    @property
    def _is_in_line(self) -> bool:
        return bool(self._pieces) and not self._pieces[-1].endswith("\n")

    def _break(self, tag: str) -> None:
        if tag in _BREAKS and self._pieces:
            self._add("\n\n" if tag in _APART else "\n" if self._is_in_line else "")

    def _add(self, text: str) -> None:
        if self._ignored or not text:
            return
        self._pieces.append(text[: self._left])
        self._left -= len(text)
        if self._left < 0:
            raise _Enough

    def _target(self, href: str) -> str:
        """Return where a link leads, if that is another page."""
        if not href or href.startswith("#") or len(href) > 500:
            return ""
        try:
            target = self._base.join(URL(href.strip()))
        except ValueError:
            return ""
        return str(target) if target.scheme in ("http", "https", "mailto") else ""
