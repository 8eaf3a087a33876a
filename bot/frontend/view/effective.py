"""The arguments of a call as its card shows them: in full, and what a human changed in them."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping
from typing import Any

from bot.agent.history.visible import visible_json
from bot.frontend.rendering.markdown import LIMIT
from bot.frontend.view.shown import File


def with_arguments(
    head: str, requested: Mapping[str, Any], edited: Mapping[str, Any] | None
) -> tuple[str, tuple[File, ...]]:
    """Return a card's text and files: what runs, and how it differs from what was asked for.

    What is long is attached, and the card has its hash.
    """
    text = _shown(requested if edited is None else edited)
    changes = "" if edited is None else _changes(_shown(requested), text)
    blocks = [f"```json\n{text}\n```", *([f"```diff\n{changes}\n```"] if changes else [])]
    content = "\n".join([head, *blocks])
    if len(content) <= LIMIT:
        return content, ()
    files = [File("arguments.json", text), *([File("changes.diff", changes)] if changes else [])]
    told = [f"The arguments are attached in full, SHA-256 `{_sha256(text)}`."]
    if changes:
        told.append("So is what was changed in them.")
    return "\n".join([head, *told]), tuple(files)


def _shown(arguments: Mapping[str, Any]) -> str:
    return visible_json(dict(arguments), without="`")  # which could end the block


def _changes(before: str, after: str) -> str:
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return "\n".join(line for line in lines if line.startswith(("- ", "+ ")))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
