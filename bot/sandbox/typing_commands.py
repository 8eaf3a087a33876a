"""What a person's client does when a slash command is typed: find it, check it, fill it in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import interaction_payloads, message_payloads, payloads
from .channels import Place
from .commands import CHAT_INPUT, GROUP, SUBCOMMAND
from .drafts import Upload
from .errors import Json
from .permissions import Permissions
from .posting import stored
from .users import Bot, User

if TYPE_CHECKING:
    from .guilds import Role
    from .people import Person

STRING, INTEGER, BOOLEAN, USER, CHANNEL, ROLE, MENTIONABLE, NUMBER, ATTACHMENT = range(3, 12)


@dataclass
class Typed:
    """A command found by its name, with the options that its last word takes."""

    bot: Bot
    command: Json
    words: list[Json]
    place: Place
    resolved: Json = field(default_factory=dict)

    @property
    def options(self) -> list[Json]:
        """The options that can be given."""
        last = self.words[-1] if self.words else self.command
        return list(last.get("options", []))

    def data(self, given: list[Json]) -> Json:
        """Return the interaction's data with these options in the innermost place."""
        for word in reversed(self.words):
            given = [{"name": word["name"], "type": word["type"], "options": given}]
        body = {
            "id": self.command["id"],
            "name": self.command["name"],
            "type": CHAT_INPUT,
            "options": given,
        }
        if self.resolved:
            body["resolved"] = self.resolved
        if "guild_id" in self.command:
            body["guild_id"] = self.command["guild_id"]
        return body


def find_command(person: Person, place: Place, text: str) -> Typed:
    """Find what ``/name`` or ``/group name`` means to this person in this place.

    Raises:
        LookupError: No such command is registered here; the text lists those that are.
        PermissionError: The person may not use it.
    """
    name, *rest = text.removeprefix("/").split()
    offered = list(available(place))
    for bot, command in offered:
        if command["name"] == name:
            _may_use(person, place, command)
            return Typed(bot, command, _words(command, rest), place)
    names = [f"/{command['name']}" for _, command in offered]
    raise LookupError(f"no command {text} in {place.name}; there are {names}")


def available(place: Place) -> list[tuple[Bot, Json]]:
    """Return the slash commands that the place offers, a guild's own first."""
    found = []
    for bot in place.world.bots:
        if place.guild is None and getattr(place, "bot", None) is not bot:
            continue
        if place.guild is not None and bot.id not in place.guild.members:
            continue
        scopes = [place.guild.id, None] if place.guild else [None]
        listed = [each for scope in scopes for each in bot.commands.get(scope, [])]
        found += [(bot, each) for each in listed if _fits(each, place)]
    return found


def _fits(command: Json, place: Place) -> bool:
    contexts = command.get("contexts")
    here = 0 if place.guild else 1
    return command["type"] == CHAT_INPUT and (contexts is None or here in contexts)


def _may_use(person: Person, place: Place, command: Json) -> None:
    granted = place.permissions_for(person)
    needed = command.get("default_member_permissions")
    # No permission at all, "0", keeps a command for administrators.
    wanted = Permissions(int(needed or 0)) or Permissions.ADMINISTRATOR
    lacking = needed is not None and place.guild and wanted not in granted
    if Permissions.USE_APPLICATION_COMMANDS not in granted or lacking:
        raise PermissionError(f"{person.name} may not use /{command['name']} in {place.name}")


def _words(command: Json, rest: list[str]) -> list[Json]:
    words: list[Json] = []
    node = command
    for word in rest:
        inner = [each for each in node["options"] if each["type"] in (SUBCOMMAND, GROUP)]
        found = next((each for each in inner if each["name"] == word), None)
        if found is None:
            raise LookupError(f"/{command['name']} has no {word!r}")
        words.append(found)
        node = found
    if any(each["type"] in (SUBCOMMAND, GROUP) for each in node.get("options", [])):
        raise LookupError(f"/{command['name']} wants one of its subcommands")
    return words


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
