"""Reading ``/name option:value`` as a person types it."""

from __future__ import annotations

import re
from typing import Any

from bot.sandbox import command_options as kinds
from bot.sandbox import typing_commands
from bot.sandbox.channels import Place
from bot.sandbox.errors import Json
from bot.sandbox.people import Person

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
    specs = {each["name"]: each for each in typed.options}
    found: dict[str, Any] = {}
    for name, quoted, plain in OPTION.findall(text[len(head) :]):
        if name not in specs:
            raise LookupError(f"{head} has no option {name!r}; there are {sorted(specs)}")
        found[name] = _value(place, specs[name], quoted or plain)
    return head, found


def _value(place: Place, spec: Json, text: str) -> Any:
    match spec["type"]:
        case kinds.INTEGER:
            return int(text)
        case kinds.NUMBER:
            return float(text)
        case kinds.BOOLEAN:
            return text.lower() in YES
        case kinds.USER | kinds.CHANNEL | kinds.ROLE | kinds.MENTIONABLE:
            return _named(place, text.lstrip("@#"))
        case _:
            return text


def _named(place: Place, text: str) -> Any:
    world, guild = place.world, place.guild
    known: list[Any] = [*world.users.values(), *world.places.values()]
    known += guild.roles if guild else []
    for each in known:
        if text in (each.name, str(each.id), each.mention):
            return each
    raise LookupError(f"nobody and nothing is called {text!r}")
