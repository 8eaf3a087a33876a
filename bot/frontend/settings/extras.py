"""What a request to the model may say beside the conversation, and within which bounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """From where to where a number may be."""

    least: float
    most: float
    whole: bool = False

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} from {self.least:g} to {self.most:g}"

    def holds(self, number: float) -> bool:
        """Whether a number is within; what is no number is not."""
        return self.least <= number <= self.most and (not self.whole or number == int(number))


EXTRAS: Mapping[str, Bounds] = {
    "temperature": Bounds(0, 2),
    "top_p": Bounds(0, 1),
    "frequency_penalty": Bounds(-2, 2),
    "presence_penalty": Bounds(-2, 2),
    "max_tokens": Bounds(16, 65_536, whole=True),
}
"""Those that a server can set where the operator lets it."""


def read(name: str, written: str) -> float:
    """Return the number that somebody wrote.

    Raises:
        ValueError: with a sentence for them.
    """
    bounds = EXTRAS[name]
    try:
        number = float(written.strip().replace(",", "."))
    except ValueError:
        number = float("nan")
    if not bounds.holds(number):
        raise ValueError(f"{name} is {bounds}.")
    return int(number) if bounds.whole else number


def within(extras: Mapping[str, float], allowed: Collection[str]) -> Mapping[str, float]:
    """Return those that may be said."""
    return {
        name: number
        for name, number in sorted(extras.items())
        if name in allowed and name in EXTRAS and EXTRAS[name].holds(number)
    }
