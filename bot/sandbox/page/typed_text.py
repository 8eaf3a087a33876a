"""Reading ``/name option:value`` as a person types it."""

from __future__ import annotations

import re
from typing import Any

from bot.sandbox.gestures import command_options as kinds
from bot.sandbox.gestures import typing_commands
from bot.sandbox.people.person import Person
from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources.channels import Place

OPTION = re.compile(r'([-_\w]+):(?:"([^"]*)"|(\S*))')
YES = {"true", "yes", "on", "1"}


def read(person: Person, place: Place, text: str) -> tuple[str, dict[str, Any]]:
    """Return the command's words and its options, each as the type that it wants.

    Raises:
        LookupError: There is no such command, option, user, role or place.
        ValueError: A number is not one.
    """
    head = OPTION.split(text, maxsplit=1)[0].strip()
    typed = typing_commands.find_command(person, place, head)
    found = OPTION.findall(text[len(head) :])
    given = {name: quoted or plain for name, quoted, plain in found}
    return head, _values(place, head, typed, given)


def values(person: Person, place: Place, command: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a command, each as the type that it wants; files stay as they are.

    Raises:
        LookupError: There is no such command, option, user, role or place.
        ValueError: A number is not one.
    """
    typed = typing_commands.find_command(person, place, command)
    return _values(place, command, typed, given)


def _values(
    place: Place, command: str, typed: typing_commands.Typed, given: dict[str, Any]
) -> dict[str, Any]:
    specs = {each["name"]: each for each in typed.options}
    if unknown := set(given) - set(specs):
        raise LookupError(f"{command} has no option {unknown.pop()!r}; there are {sorted(specs)}")
    return {
        name: _value(place, specs[name], value) if isinstance(value, str) else value
        for name, value in given.items()
    }


def _value(place: Place, spec: Json, text: str) -> Any:
    match spec["type"]:
        case kinds.INTEGER | kinds.NUMBER:
            return _number(spec, text)
        case kinds.BOOLEAN:
            return text.lower() in YES
        case kinds.USER | kinds.CHANNEL | kinds.ROLE | kinds.MENTIONABLE:
            return named(place, text.lstrip("@#"))
        case _:
            return text


def _number(spec: Json, text: str) -> int | float:
    try:
        return int(text) if spec["type"] == kinds.INTEGER else float(text)
    except ValueError:
        raise ValueError(f"{spec['name']} is a number, and {text!r} is none") from None


def named(place: Place, text: str) -> Any:
    """Return the user, place or role with this name or id."""
    world, guild = place.world, place.guild
    known: list[Any] = [*world.users.values(), *world.places.values()]
    known += guild.roles if guild else []
    for each in known:
        if text in (each.name, str(each.id), each.mention):
            return each
    raise LookupError(f"nobody and nothing is called {text!r}")
