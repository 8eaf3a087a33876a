"""Filling in the options of a slash command, with the checks that a client makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bot.sandbox import interaction_payloads, message_payloads, payloads
from bot.sandbox.channels import Place
from bot.sandbox.drafts import Upload
from bot.sandbox.errors import Json
from bot.sandbox.posting import stored
from bot.sandbox.typing_commands import Typed
from bot.sandbox.users import User

if TYPE_CHECKING:
    from bot.sandbox.guilds import Role

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


def _user(typed: Typed, value: User) -> str:
    key = str(value.id)
    typed.resolved.setdefault("users", {})[key] = payloads.user(value)
    member = interaction_payloads.member_for(typed.place, value)
    if member:
        granted = str(int(typed.place.permissions_for(value)))
        member = member | {"permissions": granted}
        typed.resolved.setdefault("members", {})[key] = member
    return key


def _channel(typed: Typed, value: Place) -> str:
    key = str(value.id)
    shown = interaction_payloads.channel_for(value, typed.bot)
    typed.resolved.setdefault("channels", {})[key] = shown
    return key


def _role(typed: Typed, value: Role) -> str:
    key = str(value.id)
    typed.resolved.setdefault("roles", {})[key] = payloads.role(value)
    return key


def _mentionable(typed: Typed, value: User | Role) -> str:
    return _user(typed, value) if isinstance(value, User) else _role(typed, value)


def _attachment(typed: Typed, value: tuple[str, bytes]) -> str:
    file = stored(typed.place, Upload(*value))
    shown = message_payloads.file_payload(typed.place, file)
    typed.resolved.setdefault("attachments", {})[str(file.id)] = shown
    return str(file.id)


READERS: dict[int, Callable[[Typed, Any], Any]] = {
    STRING: _of_type(str),
    INTEGER: _of_type(int),
    BOOLEAN: _of_type(bool),
    USER: _user,
    CHANNEL: _channel,
    ROLE: _role,
    MENTIONABLE: _mentionable,
    NUMBER: _of_type(int, float),
    ATTACHMENT: _attachment,
}
