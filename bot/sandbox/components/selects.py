"""Select menus: what a bot may offer.

The reference, "Component Reference": a string select lists its options, the others are filled
by the client with users, roles or channels.
"""

from __future__ import annotations

from bot.sandbox.refusals.forms import Form

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
