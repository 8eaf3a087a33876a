"""Select menus: what a bot may offer, and what a person chose of it.

The reference, "Component Reference": a string select lists its options, the others are filled
by the client with users, roles or channels.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bot.sandbox.errors import Json
from bot.sandbox.forms import Form

if TYPE_CHECKING:
    from bot.sandbox.resolved import Resolved

STRING, USER, ROLE, MENTIONABLE, CHANNEL = 3, 5, 6, 7, 8
KINDS = {STRING, USER, ROLE, MENTIONABLE, CHANNEL}
MOST_OPTIONS = 25


def check_select(item: Form) -> None:
    """Note what is wrong with a select menu, its custom_id aside."""
    item.text("placeholder", 0, 150)
    item.value("disabled", bool)
    least = item.integer("min_values", 0, MOST_OPTIONS)
    most = item.integer("max_values", 1, MOST_OPTIONS)
    least, most = 1 if least is None else least, most or 1
    if least > most:
        item.wrong("COMPONENT_MIN_VALUES_TOO_LARGE", "More than max_values.", "min_values")
    if item.body.get("type") == STRING:
        _check_options(item, most)


def _check_options(item: Form, most: int) -> None:
    options = item.children("options", least=1, most=MOST_OPTIONS)
    if options is None:
        item.wrong("BASE_TYPE_REQUIRED", "This field is required", "options")
        return
    seen: set[str | None] = set()
    for option in options:
        option.text("label", 1, 100, required=True)
        option.text("description", 0, 100)
        option.value("default", bool)
        value = option.text("value", 1, 100, required=True)
        if value in seen:
            text = "The specified option value is already used"
            option.wrong("SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", text, "value")
        seen.add(value)
    if most > len(options):
        item.wrong("COMPONENT_MAX_VALUES_TOO_LARGE", "More than there are options.", "max_values")


def chosen(select: Json, values: Iterable[Any], resolved: Resolved) -> list[str]:
    """Return what was chosen as it travels: values of options, or ids.

    Raises:
        ValueError: An option is not offered, or their number does not fit.
    """
    picked = list(dict.fromkeys(values))
    least, most = select.get("min_values", 1), select.get("max_values", 1)
    if not least <= len(picked) <= most:
        raise ValueError(f"between {least} and {most} are to be chosen, not {len(picked)}")
    match select["type"]:
        case 3:
            return [_offered(select, each) for each in picked]
        case 5:
            return [resolved.user(each) for each in picked]
        case 6:
            return [resolved.role(each) for each in picked]
        case 7:
            return [resolved.mentionable(each) for each in picked]
        case _:
            return [resolved.channel(each) for each in picked]


def _offered(select: Json, wanted: str) -> str:
    for option in select["options"]:
        if wanted in (option["value"], option["label"]):
            return str(option["value"])
    raise ValueError(f"{wanted!r} is not one of {[each['value'] for each in select['options']]}")
