"""Dice."""

from __future__ import annotations

import re
import secrets

from bot.agent import tool
from bot.errors import ToolError

_DICE = re.compile(r"\s*(?P<count>\d{0,3})\s*[dD]\s*(?P<sides>\d{1,4})\s*")


@tool
def roll_dice(dice: str = "1d6") -> str:
    """Roll dice.

    Args:
        dice: How many, and how many sides each has, for example 2d6; at most 100d1000.
    """
    match = _DICE.fullmatch(dice)
    count, sides = (int(match["count"] or 1), int(match["sides"])) if match else (0, 0)
    if not (1 <= count <= 100 and 2 <= sides <= 1000):
        raise ToolError(f"{dice[:40]!r} cannot be rolled; 2d6 can, and at most 100d1000.")
    rolled = [secrets.randbelow(sides) + 1 for _ in range(count)]
    total = f", together {sum(rolled)}" if count > 1 else ""
    return f"{count}d{sides}: {', '.join(map(str, rolled))}{total}"
