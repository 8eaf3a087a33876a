"""Modals: the form that a bot opens for one person (reference, "Using Modal Components").

Text inputs and select menus are there; uploads, radio groups and checkboxes are not yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.sandbox import selects
from bot.sandbox.errors import Json
from bot.sandbox.forms import Form
from bot.sandbox.resolved import Resolved

if TYPE_CHECKING:
    from bot.sandbox.interactions import Interaction

ROW, TEXT_INPUT, TEXT, LABEL = 1, 4, 10, 18
MOST_PARTS, MOST_TEXT = 5, 4000


@dataclass(eq=False)
class Modal:
    """A form on one person's screen.

    Attributes:
        opened_by: The click or command that it answers.
        body: The form as the bot sent it.
        closed: Whether it was sent off, and the bot took it.
    """

    opened_by: Interaction
    body: Json
    closed: bool = False

    @property
    def title(self) -> str:
        """What stands above it."""
        return str(self.body["title"])

    @property
    def inputs(self) -> list[Json]:
        """The inputs in order, each with its label."""
        return [
            item | {"label": part.get("label", item.get("label"))}
            for part, item in _inputs(self.body)
        ]


def _inputs(body: Json) -> Iterator[tuple[Json, Json]]:
    for part in body["components"]:
        for item in part.get("components") or [part.get("component")]:
            if item is not None:
                yield part, item


def check_modal(form: Form) -> None:
    """Note what is wrong with the data of a response that opens a form."""
    form.text("custom_id", 1, 100, required=True)
    form.text("title", 1, 45, required=True)
    parts = form.children("components", least=1, most=MOST_PARTS)
    if parts is None:
        form.wrong("BASE_TYPE_REQUIRED", "This field is required", "components")
    seen: list[str] = []
    for part in parts or []:
        _check_part(part, seen)


def _check_part(part: Form, seen: list[str]) -> None:
    kind = part.choice("type", {ROW, TEXT, LABEL}, required=True)
    if kind == ROW:
        _check_row(part, seen)
    elif kind == TEXT:
        part.text("content", 1, MOST_TEXT, required=True)
    elif kind == LABEL:
        part.text("label", 1, 45, required=True)
        part.text("description", 0, 100)
        _check_labelled(part, seen)


def _check_row(row: Form, seen: list[str]) -> None:
    items = row.children("components", least=1, most=1)
    if items is None:
        row.wrong("BASE_TYPE_REQUIRED", "This field is required", "components")
    for item in items or []:
        item.text("label", 1, 45, required=True)
        _check_input(item, {TEXT_INPUT}, seen)


def _check_labelled(part: Form, seen: list[str]) -> None:
    item = part.child("component")
    if item is None:
        part.wrong("BASE_TYPE_REQUIRED", "This field is required", "component")
    else:
        _check_input(item, {TEXT_INPUT, *selects.KINDS}, seen)


def _check_input(item: Form, kinds: set[int], seen: list[str]) -> None:
    kind = item.choice("type", kinds, required=True)
    custom_id = item.text("custom_id", 1, 100, required=True)
    if custom_id in seen:
        text = "Component custom id cannot be duplicated"
        item.wrong("COMPONENT_CUSTOM_ID_DUPLICATED", text, "custom_id")
    seen.append(custom_id or "")
    required = item.value("required", bool)
    if kind == TEXT_INPUT:
        _check_text(item)
    elif kind is not None:
        selects.check_select(item)
        if item.body.get("disabled"):
            item.wrong("MODAL_COMPONENT_DISABLED", "Cannot be disabled in a modal.", "disabled")
        if item.body.get("min_values") == 0 and required is not False:
            item.wrong("NUMBER_TYPE_MIN", "At least 1 where it is required.", "min_values")


def _check_text(item: Form) -> None:
    item.integer("style", 1, 2, required=True)
    item.integer("min_length", 0, MOST_TEXT)
    item.integer("max_length", 1, MOST_TEXT)
    item.text("value", 0, MOST_TEXT)
    item.text("placeholder", 0, 100)


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
    return body | {"values": selects.chosen(item, given, resolved)}


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
