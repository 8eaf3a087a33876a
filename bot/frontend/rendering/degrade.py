"""What Discord does not show, as something that it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from markdown_it.token import Token

from bot.frontend.rendering.document import Change
from bot.frontend.rendering.grammar import Scan, Span, is_code, scan
from bot.frontend.rendering.inline import Prose
from bot.frontend.rendering.tags import Edit, tags

BREAK = "\u200b"  # parts backticks that would end a code block, keeps blanks before a text
# Whether a paragraph may hold anything of what follows; cheaper than reading it.
_SUSPECT = re.compile(r"!\[|<|\[\^|\$|\\[(\[\n]|```|\[[^\[\]]{0,200}?(?i:https?://|www\.)")
_HOST = re.compile(r"(?:https?://(?:www\.)?|www\.)([^\s/?#]+)", re.IGNORECASE)
_ITEMS = re.compile(r"\+(?=[ \t])|(?<=\d)\)(?=[ \t])")  # marks of items that Discord does not know
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_BOXES = {"[ ] ": "☐", "[x] ": "☑", "[X] ": "☑"}
_INFO = re.compile(r"[A-Za-z0-9_+.#-]{1,30}(?=\s|$)")


def language(info: str) -> str:
    """Return what of a fence's info Discord takes for a language."""
    found = _INFO.match(info)
    return found[0] if found else ""


def in_prose(prose: Prose) -> list[Change]:
    """Return the changes inside a paragraph or heading, in order."""
    edits: list[Edit] = []
    if prose.leaf.in_item and (box := _BOXES.get(prose.content[:4])):
        edits.append((0, 3, box))
    if _SUSPECT.search(prose.content):
        edits += in_inline(prose.scan, prose.content)
        edits = [edit for edit in edits if len(edit[2]) <= prose.document.limit // 2]
    changes = [Change(prose.place(a), prose.place(b), shown) for a, b, shown in edits]
    if prose.leaf.in_item:
        changes += _items(prose)
    changes += _heading(prose)
    return _in_order(changes) if changes else changes


def _in_order(changes: list[Change]) -> list[Change]:
    kept: list[Change] = []
    for change in sorted(changes):
        if not kept or change.start >= kept[-1].end:
            kept.append(change)
    return kept


def _items(prose: Prose) -> Iterator[Change]:
    document, first = prose.document, prose.document.starts[prose.leaf.first]
    for found in _ITEMS.finditer(document.src, first, prose.place(0)):
        yield Change(found.start(), found.end(), "-" if found[0] == "+" else ".")


def _heading(prose: Prose) -> Iterator[Change]:
    leaf, document = prose.leaf, prose.document
    if leaf.kind != "heading":
        return
    markup, whole = leaf.tokens[0].markup, document.line(leaf.first)
    if markup[0] == "#" and len(markup) <= 3 and not whole.endswith(("#", " ", "\t")):
        return
    start, end = prose.place(0), prose.place(len(prose.content))
    if markup[0] == "#":
        hashes = document.src.index("#", document.starts[leaf.first])
        if len(markup) > 3:
            yield Change(hashes + 3, hashes + len(markup), "")
        line_end = document.line_end(leaf.first)
        if document.src[end:line_end].strip():
            yield Change(end, line_end, "")
        return
    if leaf.last - leaf.first == 2:
        yield Change(start, start, "# " if markup == "=" else "## ")
    underline = leaf.last - 1
    before = document.starts[underline] - 1
    yield Change(max(end, before), document.line_end(underline), "")


def in_inline(scan: Scan, content: str) -> list[Edit]:
    """Return what of a paragraph's text is shown otherwise."""
    edits: list[Edit] = []
    for span in scan.spans:
        if edit := _EDITS.get(span.rule, _unchanged)(span, content):
            edits.append(edit)
    return sorted(edits + tags(scan, content))


def _unchanged(span: Span, content: str) -> Edit | None:
    return None


def _image(span: Span, content: str) -> Edit | None:
    token = span.tokens[-1]
    url, alt = str(token.attrs["src"]), token.content.strip()
    if not url.startswith(("http://", "https://")):
        shown = alt if url.startswith("data:") else f"{alt} ({url})".strip()
        return span.start, span.end, shown
    if alt:
        return span.start, span.start + 1, ""
    return span.start, span.end, url


def _link(span: Span, content: str) -> Edit | None:
    opened = [each.type for each in span.tokens].index("link_open") if span.tokens else 0
    tokens = span.tokens[opened:]  # the text before it may have come with it
    images = [token for token in tokens if token.type == "image"]
    label = " ".join(token.content for token in images).strip() if images else plain(tokens)
    url = str(tokens[0].attrs["href"]) if tokens else ""
    if _misleads(label, url):
        return span.start, span.end, f"{label} ({url})"
    return (span.start, span.end, f"[{label}]({url})" if label else url) if images else None


def _misleads(label: str, url: str) -> bool:
    """Whether a link's text is an address, and not of the host to which the link leads."""
    hosts = {found[1].casefold() for found in _HOST.finditer(label)}
    leads_to = _HOST.match(url)
    return bool(hosts - ({leads_to[1].casefold()} if leads_to else set()))


def _footnote(span: Span, content: str) -> Edit | None:
    token = span.tokens[-1]
    label = token.content
    mark = label.translate(_SUPERSCRIPT) if label.isascii() and label.isdigit() else f"[{label}]"
    if token.type == "footnote_anchor":
        return span.start, span.end, f"-# {mark} "
    return span.start, span.end, mark


def _math(span: Span, content: str) -> Edit | None:
    formula = " ".join(span.tokens[-1].content.split())
    return (span.start, span.end, f"`{formula}`") if formula and "`" not in formula else None


def _hard_break(span: Span, content: str) -> Edit | None:
    ends_line = content.startswith("\\\n", span.start)
    return (span.start, span.start + 1, "") if ends_line else None


def _code(span: Span, content: str) -> Edit | None:
    """Change what would be a code block in the middle of a line."""
    code = content[span.start : span.end].strip("`")
    if not is_code(span) or not content.startswith("```", span.start) or "\n" in code:
        return None
    mark = "``" if "`" in code else "`"
    return (span.start, span.end, f"{mark}{code}{mark}") if "``" not in code else None


_EDITS: dict[str, Callable[[Span, str], Edit | None]] = {
    "image": _image,
    "link": _link,
    "footnote": _footnote,
    "math": _math,
    "escape": _hard_break,
    "backticks": _code,
}


def plain(tokens: list[Token]) -> str:
    """Return the text of inline tokens, without any markup."""
    return "".join(
        " " if token.type in {"softbreak", "hardbreak"} else token.content
        for token in tokens
        if token.type != "html_inline"
    )


def on_one_line(text: str) -> str:
    """Return the Markdown of a table's cell as Discord shows it."""
    edits = in_inline(scan(text), text) if _SUSPECT.search(text) else []
    for start, end, shown in reversed(edits):
        text = text[:start] + shown.replace("\n", " ") + text[end:]
    return text
