"""Long code as a file: of an answer that is nearly all one block, the prose stays."""

from __future__ import annotations

import re
from typing import NamedTuple

from bot.frontend.rendering.document import Document, Leaf

LONG = 4000
"""Code points: a block that is longer fills two messages, and is read better in an editor."""
PROSE = 2000
"""Code points that may be around it; with more, it is no longer nearly all of the answer."""
LONGEST = 100_000
"""Code points of an answer that is looked through; a longer one is attached as it is."""

_OPENING = re.compile(r"^(?:`{3,}|~{3,})", re.MULTILINE)
_WORD = re.compile(r"[\w+#]*")
_EXTENSIONS = {
    "bash": "sh",
    "bat": "bat",
    "c": "c",
    "c#": "cs",
    "c++": "cpp",
    "cc": "cpp",
    "clojure": "clj",
    "cpp": "cpp",
    "cs": "cs",
    "csharp": "cs",
    "css": "css",
    "csv": "csv",
    "dart": "dart",
    "diff": "diff",
    "elixir": "ex",
    "erlang": "erl",
    "f#": "fs",
    "fsharp": "fs",
    "go": "go",
    "golang": "go",
    "haskell": "hs",
    "html": "html",
    "ini": "ini",
    "java": "java",
    "javascript": "js",
    "js": "js",
    "json": "json",
    "jsonc": "json",
    "jsx": "jsx",
    "julia": "jl",
    "kotlin": "kt",
    "latex": "tex",
    "lua": "lua",
    "markdown": "md",
    "md": "md",
    "nix": "nix",
    "ocaml": "ml",
    "patch": "patch",
    "perl": "pl",
    "php": "php",
    "powershell": "ps1",
    "ps1": "ps1",
    "py": "py",
    "python": "py",
    "python3": "py",
    "r": "r",
    "rb": "rb",
    "ruby": "rb",
    "rs": "rs",
    "rust": "rs",
    "scala": "scala",
    "scss": "scss",
    "sh": "sh",
    "shell": "sh",
    "sql": "sql",
    "svelte": "svelte",
    "svg": "svg",
    "swift": "swift",
    "tex": "tex",
    "toml": "toml",
    "ts": "ts",
    "tsx": "tsx",
    "typescript": "ts",
    "vue": "vue",
    "xml": "xml",
    "yaml": "yaml",
    "yml": "yml",
    "zig": "zig",
    "zsh": "sh",
}


class Lifted(NamedTuple):
    """An answer without its code.

    Attributes:
        before: What is said before the block.
        name: What the file is called.
        code: What is in it: the code's own bytes.
        after: What is said after the block.
    """

    before: str
    name: str
    code: str
    after: str

    @property
    def text(self) -> str:
        """What is said, with a line in place of the code."""
        return f"{self.before}-# The code is in the file {self.name}.\n{self.after}"


def lifted(text: str) -> Lifted | None:
    """Return an answer without its code, if it is nearly all one long block of that."""
    if not LONG < len(text) <= LONGEST or not _may_be_code(text):
        return None
    document = Document(text)
    for leaf in document.leaves:
        if leaf.kind == "fence":
            start, end = _code(document, leaf)
            if end - start > LONG and len(text) - (end - start) <= PROSE:
                return _without(document, leaf, start, end) if _is_plain(document, leaf) else None
    return None


def _may_be_code(text: str) -> bool:
    """Whether it looks as if it was nearly all code: only then it is parsed, all of it."""
    for opening in _OPENING.finditer(text, 0, PROSE):
        marks = opening[0]
        closing = re.compile(rf"^ {{0,3}}{marks}{marks[0]}*[ \t]*\r?$", re.MULTILINE)
        found = closing.search(text, opening.end())
        end = found.start() if found else len(text)
        if end - opening.end() > LONG and len(text) - (end - opening.end()) <= 2 * PROSE:
            return True
    return False


def _code(document: Document, leaf: Leaf) -> tuple[int, int]:
    """Return where the code of a block begins and ends."""
    closed = leaf.tokens[0].content.count("\n") == leaf.last - leaf.first - 2
    return document.starts[leaf.first + 1], document.starts[leaf.last - closed]


def _is_plain(document: Document, leaf: Leaf) -> bool:
    """Whether each line of a block is all code: it is in no quote or list, and not indented."""
    return document.src.startswith(leaf.tokens[0].markup, document.starts[leaf.first])


def _without(document: Document, leaf: Leaf, start: int, end: int) -> Lifted:
    last = document.starts[leaf.last]
    return Lifted(
        before=document.original(0, document.starts[leaf.first]),
        name=f"code.{_extension(leaf.tokens[0].info)}",
        code=document.original(start, end),
        after=document.original(last, len(document.src)),
    )


def _extension(info: str) -> str:
    found = _WORD.match(info.strip().lstrip("{."))
    return _EXTENSIONS.get(found[0].lower() if found else "", "txt")
