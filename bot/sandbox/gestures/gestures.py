"""What people do that a bot is told of as an interaction, each with the checks of a client."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bot.sandbox.components import selects
from bot.sandbox.gestures import choosing, command_options, filling, typing_commands
from bot.sandbox.gestures.resolved import Resolved
from bot.sandbox.resources.channels import Place
from bot.sandbox.resources.interactions import Interaction, InteractionKind
from bot.sandbox.resources.messages import BUTTON, Message
from bot.sandbox.resources.modals import Modal
from bot.sandbox.resources.users import Bot, User


def click(person: User, message: Message, button: str) -> Interaction:
    """Click a button, named by label or custom_id."""
    bot = _listener(person, message)
    found = message.clickable(button, {BUTTON})
    data = {"custom_id": found["custom_id"], "component_type": found["type"]}
    kind = InteractionKind.COMPONENT
    return Interaction(person.world, bot, person, message.place, kind, data, message)


def choice(person: User, message: Message, menu: str, values: Iterable[Any]) -> Interaction:
    """Choose from a select menu, named by custom_id or placeholder."""
    bot = _listener(person, message)
    found = message.clickable(menu, selects.KINDS)
    resolved = Resolved(bot, message.place)
    data = {
        "custom_id": found["custom_id"],
        "component_type": found["type"],
        "values": choosing.chosen(found, values, resolved),
    }
    if resolved.found:
        data["resolved"] = resolved.found
    kind = InteractionKind.COMPONENT
    return Interaction(person.world, bot, person, message.place, kind, data, message)


def _listener(person: User, message: Message) -> Bot:
    """Return the bot that hears of what is done to a message, if the person can see it."""
    if message.deleted:
        raise LookupError(f"gone: {message.line()}")
    hidden = message.seen_only_by not in (None, person)
    if hidden or not message.place.seen_by(person):
        raise PermissionError(f"{person.name} does not see {message.line()}")
    if not isinstance(message.author, Bot):
        raise LookupError("nobody listens to this button")
    return message.author


def submission(person: User, modal: Modal, fields: dict[str, Any]) -> Interaction:
    """Send a form off."""
    source = modal.opened_by
    if source.person is not person:
        raise PermissionError(f"{person.name} does not see {modal.title!r}")
    if modal.closed:
        raise LookupError(f"{modal.title!r} is closed")
    data, kind = filling.filled(modal, fields), InteractionKind.MODAL
    return Interaction(
        person.world, source.bot, person, source.place, kind, data, source.message, modal
    )


def command(person: User, text: str, place: Place, options: dict[str, Any]) -> Interaction:
    """Run a slash command."""
    if getattr(place, "archived", False):
        raise PermissionError(f"{place.name} is archived")
    typed = typing_commands.find_command(person, place, text)
    data = typed.data(command_options.fill_in(typed, options))
    return Interaction(person.world, typed.bot, person, place, InteractionKind.COMMAND, data)


def completion(
    person: User, text: str, place: Place, option: str, so_far: str, options: dict[str, Any]
) -> Interaction:
    """Type into an option that completes."""
    found = typing_commands.find_command(person, place, text)
    spec = next((each for each in found.options if each["name"] == option), None)
    if spec is None or not spec.get("autocomplete"):
        raise LookupError(f"{text} completes no option {option!r}")
    focused = {"name": option, "type": spec["type"], "value": so_far, "focused": True}
    data = found.data([*command_options.fill_in(found, options, partly=True), focused])
    return Interaction(person.world, found.bot, person, place, InteractionKind.AUTOCOMPLETE, data)
