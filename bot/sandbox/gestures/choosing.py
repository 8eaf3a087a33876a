"""What a person chose of a select menu, with the checks that a client makes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bot.sandbox.gestures.resolved import Resolved
from bot.sandbox.refusals.errors import Json


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
