"""What a person's client does when a slash command is typed: find it, check it, fill it in."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.sandbox.gestures.resolved import Resolved
from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources.channels import Place
from bot.sandbox.resources.commands import CHAT_INPUT, GROUP, SUBCOMMAND
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.users import Bot, User


@dataclass
class Typed:
    """A command found by its name, with the options that its last word takes."""

    bot: Bot
    command: Json
    words: list[Json]
    place: Place
    resolved: Resolved = field(init=False)

    def __post_init__(self) -> None:
        self.resolved = Resolved(self.bot, self.place)

    @property
    def name(self) -> str:
        """The words that a person types after the slash."""
        return " ".join(each["name"] for each in (self.command, *self.words))

    @property
    def description(self) -> str:
        """What its last word does."""
        return str((self.words[-1] if self.words else self.command)["description"])

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
        if self.resolved.found:
            body["resolved"] = self.resolved.found
        if "guild_id" in self.command:
            body["guild_id"] = self.command["guild_id"]
        return body


def find_command(person: User, place: Place, text: str) -> Typed:
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


def offered(person: User, place: Place) -> list[Typed]:
    """Return what the person may run here, each subcommand by itself."""
    return [
        Typed(bot, command, words, place)
        for bot, command in available(place)
        if _usable(person, place, command)
        for words in _branches(command)
    ]


def _branches(node: Json) -> list[list[Json]]:
    inner = [each for each in node.get("options", []) if each["type"] in (SUBCOMMAND, GROUP)]
    return [[each, *rest] for each in inner for rest in _branches(each)] if inner else [[]]


def _may_use(person: User, place: Place, command: Json) -> None:
    if not _usable(person, place, command):
        raise PermissionError(f"{person.name} may not use /{command['name']} in {place.name}")


def _usable(person: User, place: Place, command: Json) -> bool:
    granted = place.permissions_for(person)
    needed = command.get("default_member_permissions")
    # No permission at all, "0", keeps a command for administrators.
    wanted = Permissions(int(needed or 0)) or Permissions.ADMINISTRATOR
    lacking = needed is not None and place.guild is not None and wanted not in granted
    return Permissions.USE_APPLICATION_COMMANDS in granted and not lacking


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
