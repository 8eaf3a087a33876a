"""A document as blocks, each of which knows how it is shown and cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bot.frontend.rendering.code import LONGEST_PREFIX, FenceBlock
from bot.frontend.rendering.document import Document, Leaf, quotes
from bot.frontend.rendering.grids import TableBlock
from bot.frontend.rendering.prose import ProseBlock
from bot.frontend.rendering.tags import RULE
from bot.frontend.rendering.units import Block, Gap, Solid


def blocks(document: Document) -> Iterator[Block]:
    """Return all lines of a document, as blocks."""
    last = 0
    for leaf in document.leaves:
        if leaf.first > last:
            yield _between_leaves(document, last, leaf.first)
        yield _BLOCKS[leaf.kind](document, leaf)
        last = leaf.last
    if last < document.lines:
        yield _between_leaves(document, last, document.lines)


def _between_leaves(document: Document, first: int, last: int) -> Block:
    text = document.src[document.starts[first] : document.starts[last]]
    return Block(document, first, last) if text.strip(" \t>\n") else Gap(document, first, last)


def _prose(document: Document, leaf: Leaf) -> Block:
    return ProseBlock(document, leaf)


def _fence(document: Document, leaf: Leaf) -> Block:
    return FenceBlock(document, leaf)


def _rule(document: Document, leaf: Leaf) -> Block:
    start = document.text_start(leaf)
    return Solid(document, leaf.first, leaf.last, leaf.rank, start=start, shown=RULE)


def _math(document: Document, leaf: Leaf) -> Block:
    start, before = document.opening(leaf)
    lines = ["```tex", *leaf.tokens[0].content.rstrip("\n").split("\n"), "```"]
    shown = before + f"\n{quotes(before)}".join(lines)
    if len(shown) > document.limit // 2 or "```" in leaf.tokens[0].content:
        return Block(document, leaf.first, leaf.last, leaf.rank)
    return Solid(document, leaf.first, leaf.last, leaf.rank, start=start, shown=shown)


def _table(document: Document, leaf: Leaf) -> Block:
    start = document.text_start(leaf)
    prefix = document.prefix(leaf.first, start)
    block = TableBlock(document, leaf, start=start, prefix=prefix)
    if len(prefix) > LONGEST_PREFIX or block.largest() > document.limit // 2:
        return Block(document, leaf.first, leaf.last, leaf.rank)
    return block


_BLOCKS: dict[str, Callable[[Document, Leaf], Block]] = {
    "prose": _prose,
    "heading": _prose,
    "fence": _fence,
    "rule": _rule,
    "math": _math,
    "table": _table,
}
