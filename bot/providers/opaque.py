"""What a service wants back unchanged, put together from its pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAMES = frozenset({"id", "index", "type", "format"})
"""Fields of a list's item that name it, and are repeated whole with each piece."""


def merge(kept: dict[str, Any], new: Mapping[str, Any]) -> None:
    """Add a delta's unknown fields: strings and lists grow, objects are merged, others replaced."""
    for name, value in new.items():
        if value is not None:
            kept[name] = joined(kept.get(name), value)


def joined(old: Any, new: Any) -> Any:
    """Join two pieces of one field."""
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    if isinstance(old, list) and isinstance(new, list):
        return _extended(old, new)
    if isinstance(old, dict) and isinstance(new, dict):
        return _updated(old, new)
    return new


def _updated(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    for name, value in new.items():
        both_objects = isinstance(value, dict) and isinstance(old.get(name), dict)
        old[name] = _updated(old[name], value) if both_objects else value
    return old


def _extended(old: list[Any], new: list[Any]) -> list[Any]:
    for item in new:
        if old and _continues(old[-1], item):
            _grow(old[-1], item)
        else:
            old.append(item)
    return old


def _continues(last: Any, item: Any) -> bool:
    """Whether two items of a list are pieces of one: they carry the same index and type."""
    if not (isinstance(last, dict) and isinstance(item, dict)):
        return False
    names = ("index", "type")
    return all(name in item and last.get(name) == item[name] for name in names)


def _grow(last: dict[str, Any], item: dict[str, Any]) -> None:
    for name, value in item.items():
        if value is not None:
            last[name] = value if name in _NAMES else joined(last.get(name), value)


def mended(value: Any) -> Any:
    """Join surrogates that were sent in halves and replace lone ones, which nothing can store."""
    if isinstance(value, str):
        return mended_text(value)
    if isinstance(value, list):
        return [mended(item) for item in value]
    if isinstance(value, dict):
        return {mended(name): mended(item) for name, item in value.items()}
    return value


def mended_text(text: str) -> str:
    """Return the text with halves of surrogate pairs joined or replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
