"""What a reader sees of a message, as one list, so that parts can be compared with a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from markdown_it.token import Token

from bot.frontend.rendering.degrade import BREAK
from bot.frontend.rendering.grammar import block_tokens, inline_tokens

Seen = tuple[str, frozenset[str]]


def flat(messages: Iterable[str]) -> list[Seen]:
    """Return each visible character with how it is shown: its block, quotes and styles."""
    return [seen for message in messages for seen in _blocks(message.removeprefix(BREAK))]


def code_of(messages: Iterable[str]) -> str:
    """Return the bytes of all code blocks."""
    tokens = [token for message in messages for token in block_tokens(message + "\n")]
    return "".join(token.content for token in tokens if token.type == "fence")


def _blocks(message: str) -> Iterator[Seen]:
    quotes, kind = 0, ""
    for token in block_tokens(message + "\n"):
        if token.type in {"blockquote_open", "blockquote_close"}:
            quotes += token.nesting
        elif token.type in {"paragraph_open", "heading_open", "th_open", "td_open"}:
            kind = token.tag
        elif token.type == "fence":
            yield from _chars(token.content, {f"fence {token.info}", f"quotes {quotes}"})
        elif token.type == "inline":
            yield from _inline(token.content, {kind, f"quotes {quotes}"})


def _inline(text: str, around: set[str]) -> Iterator[Seen]:
    styles: list[str] = []
    for token in inline_tokens(text):
        if token.nesting > 0:
            styles.append(_style(token))
        elif token.nesting < 0:
            styles.pop()
        else:
            own = [token.type] if token.type != "text" else []
            yield from _chars(token.content, {*around, *styles, *own})


def _style(token: Token) -> str:
    return f"{token.tag or token.type} {token.attrs.get('href', '')}"


def _chars(text: str, styles: set[str]) -> Iterator[Seen]:
    around = frozenset(styles)
    for char in text:
        if not char.isspace():
            yield char, around
