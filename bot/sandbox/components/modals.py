"""What a modal that a bot opens may hold (reference, "Using Modal Components").

Text inputs and select menus are there; uploads, radio groups and checkboxes are not yet.
"""

from __future__ import annotations

from bot.sandbox.components import selects
from bot.sandbox.refusals.forms import Form

ROW, TEXT_INPUT, TEXT, LABEL = 1, 4, 10, 18
MOST_PARTS, MOST_TEXT = 5, 4000


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
