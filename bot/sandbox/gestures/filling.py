"""A form that a person has filled in, with the checks that a client makes."""

from __future__ import annotations

from typing import Any

from bot.sandbox.components.modals import MOST_TEXT, ROW, TEXT, TEXT_INPUT
from bot.sandbox.gestures import choosing
from bot.sandbox.gestures.resolved import Resolved
from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources.modals import Modal


def filled(modal: Modal, given: dict[str, Any]) -> Json:
    """Return the form as it travels; fields are named by custom_id or label.

    Raises:
        ValueError: A field is unknown, missing, or not what the form wants.
    """
    opened_by = modal.opened_by
    resolved = Resolved(opened_by.bot, opened_by.place)
    left = dict(given)
    parts = [_filled(part, left, resolved) for part in modal.body["components"]]
    if left:
        known = [each["label"] for each in modal.inputs]
        raise ValueError(f"unknown fields {sorted(left)}; there are {known}")
    body: Json = {"custom_id": modal.body["custom_id"], "components": parts}
    return body | ({"resolved": resolved.found} if resolved.found else {})


def _filled(part: Json, left: dict[str, Any], resolved: Resolved) -> Json:
    numbered = {"type": part["type"], "id": part.get("id", 0)}
    if part["type"] == TEXT:
        return numbered
    if part["type"] == ROW:
        items = [_answered(each, each, left, resolved) for each in part["components"]]
        return numbered | {"components": items}
    return numbered | {"component": _answered(part, part["component"], left, resolved)}


def _answered(part: Json, item: Json, left: dict[str, Any], resolved: Resolved) -> Json:
    names = (item["custom_id"], part["label"])
    given = next((left.pop(name) for name in names if name in left), None)
    body = {"type": item["type"], "id": item.get("id", 0), "custom_id": item["custom_id"]}
    if item["type"] == TEXT_INPUT:
        return body | {"value": _text(part["label"], item, given)}
    if given is None:  # what a client shows as chosen is sent off
        given = [each["value"] for each in item.get("options", []) if each.get("default")]
    if not given and item.get("required") is False:
        return body | {"values": []}
    return body | {"values": choosing.chosen(item, given, resolved)}


def _text(label: str, item: Json, given: str | None) -> str:
    text = item.get("value") or "" if given is None else given
    if not text:
        if item.get("required", True):
            raise ValueError(f"{label!r} is required")
        return text
    least, most = item.get("min_length", 0), item.get("max_length", MOST_TEXT)
    if not least <= len(text) <= most:
        raise ValueError(f"{label!r} takes {least} to {most} characters")
    return text
