"""Application commands: what may be registered (reference, "Application Commands")."""

from __future__ import annotations

import re
from typing import Any

from bot.sandbox.refusals.errors import Json, Refusal
from bot.sandbox.refusals.forms import Form
from bot.sandbox.resources.users import Bot

CHAT_INPUT, USER, MESSAGE = 1, 2, 3
SUBCOMMAND, GROUP = 1, 2
NAME = re.compile(r"^[-_'\w]{1,32}$")
MOST_COMMANDS, MOST_OPTIONS, MOST_CHOICES = 100, 25, 25


def register(bot: Bot, guild_id: int | None, bodies: list[Any]) -> list[Json]:
    """Put these commands in the place of all that were registered there.

    Raises:
        DiscordError: 50035 naming every wrong field.
    """
    checked = _checked(bodies)
    before = {(each["type"], each["name"]): each for each in bot.commands.get(guild_id, [])}
    bot.commands[guild_id] = [
        _registered(bot, guild_id, body, before.get((body.get("type", 1), body["name"])))
        for body in checked
    ]
    return bot.commands[guild_id]


def upsert(bot: Bot, guild_id: int | None, body: Json) -> Json:
    """Register one command beside the others, or in the place of its namesake."""
    (checked,) = _checked([body])
    listed = bot.commands.setdefault(guild_id, [])
    key = (checked.get("type", 1), checked["name"])
    before = next((each for each in listed if (each["type"], each["name"]) == key), None)
    after = _registered(bot, guild_id, checked, before)
    bot.commands[guild_id] = [each for each in listed if each is not before] + [after]
    return after


def find(bot: Bot, guild_id: int | None, command_id: int) -> Json:
    """Return a registered command by id, or refuse with 10063."""
    for each in bot.commands.get(guild_id, []):
        if each["id"] == str(command_id):
            return each
    raise Refusal.UNKNOWN_COMMAND.error()


def _checked(bodies: list[Any]) -> list[Json]:
    form = Form({"commands": bodies})
    mistakes: Json = {}
    seen: set[tuple[int, str]] = set()
    if len(bodies) > MOST_COMMANDS:
        form.wrong("BASE_TYPE_MAX_LENGTH", f"Must be {MOST_COMMANDS} or fewer.", "commands")
    for place, body in enumerate(bodies):
        each = Form(body if isinstance(body, dict) else {}, (place,), mistakes)
        _check(each, seen)
    form.finish()
    Form({}, (), mistakes).finish()
    return bodies


def _check(command: Form, seen: set[tuple[int, str]]) -> None:
    kind = command.choice("type", {CHAT_INPUT, USER, MESSAGE}) or CHAT_INPUT
    name = command.text("name", 1, 32, required=True) or ""
    if (kind, name) in seen:
        text = "Application command names must be unique"
        command.wrong("APPLICATION_COMMANDS_DUPLICATE_NAME", text, "name")
    seen.add((kind, name))
    if kind == CHAT_INPUT:
        _named(command, name)
        command.text("description", 1, 100, required=True)
        _check_options(command)


def _named(form: Form, name: str) -> None:
    if not NAME.match(name) or name != name.lower():
        text = "Command name is invalid"
        form.wrong("APPLICATION_COMMAND_INVALID_NAME", text, "name")


def _check_options(parent: Form) -> None:
    optional = False
    for option in parent.children("options", most=MOST_OPTIONS) or []:
        option.integer("type", 1, 11, required=True)
        _named(option, option.text("name", 1, 32, required=True) or "")
        option.text("description", 1, 100, required=True)
        if option.body.get("required") and optional:
            text = "Required options must be placed before non-required options"
            option.wrong("APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", text)
        optional = optional or not option.body.get("required")
        for choice in option.children("choices", most=MOST_CHOICES) or []:
            choice.text("name", 1, 100, required=True)
        _check_options(option)


def _registered(bot: Bot, guild_id: int | None, body: Json, before: Json | None) -> Json:
    command: Json = {
        "type": CHAT_INPUT,
        "description": "",
        "options": [],
        "default_member_permissions": None,
        "nsfw": False,
        "contexts": None,
        "integration_types": [0],
    } | {key: value for key, value in body.items() if value is not None}
    command["id"] = before["id"] if before else str(bot.world.ids.next())
    command["version"] = str(bot.world.ids.next())
    command["application_id"] = str(bot.application_id)
    if guild_id is not None:
        command["guild_id"] = str(guild_id)
    return command
