"""Filling in the options of a slash command, with the checks that a client makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.sandbox.gestures.typing_commands import Typed
from bot.sandbox.refusals.errors import Json

STRING, INTEGER, BOOLEAN, USER, CHANNEL, ROLE, MENTIONABLE, NUMBER, ATTACHMENT = range(3, 12)


def fill_in(typed: Typed, given: dict[str, Any], *, partly: bool = False) -> list[Json]:
    """Check the given options as a client does and return them as they travel.

    Raises:
        ValueError: An option is unknown, missing or of another type.
    """
    specs = {each["name"]: each for each in typed.options}
    if unknown := set(given) - set(specs):
        raise ValueError(f"unknown options {sorted(unknown)}; there are {sorted(specs)}")
    missing = [key for key, each in specs.items() if each.get("required") and key not in given]
    if missing and not partly:
        raise ValueError(f"missing options {missing}")
    return [
        {"name": key, "type": specs[key]["type"], "value": _value(typed, specs[key], value)}
        for key, value in given.items()
    ]


def _value(typed: Typed, spec: Json, value: Any) -> Any:
    reader = READERS[spec["type"]]
    result = reader(typed, value)
    choices = {each["name"]: each["value"] for each in spec.get("choices", [])}
    if choices and result not in choices.values():
        if result not in choices:
            raise ValueError(f"{spec['name']} is one of {sorted(choices)}")
        return choices[result]
    _within(spec, result)
    return result


def _within(spec: Json, value: Any) -> None:
    measured = len(value) if spec["type"] == STRING else value
    least = spec.get("min_length", spec.get("min_value"))
    most = spec.get("max_length", spec.get("max_value"))
    if (least is not None and measured < least) or (most is not None and measured > most):
        raise ValueError(f"{spec['name']} is not between {least} and {most}")


def _of_type(*kinds: type) -> Callable[[Typed, Any], Any]:
    def read(_: Typed, value: Any) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise ValueError(f"{value!r} is not {' or '.join(each.__name__ for each in kinds)}")
        return value

    return read


READERS: dict[int, Callable[[Typed, Any], Any]] = {
    STRING: _of_type(str),
    INTEGER: _of_type(int),
    BOOLEAN: _of_type(bool),
    USER: lambda typed, value: typed.resolved.user(value),
    CHANNEL: lambda typed, value: typed.resolved.channel(value),
    ROLE: lambda typed, value: typed.resolved.role(value),
    MENTIONABLE: lambda typed, value: typed.resolved.mentionable(value),
    NUMBER: _of_type(int, float),
    ATTACHMENT: lambda typed, value: typed.resolved.attachment(value),
}
