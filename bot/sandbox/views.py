"""What one person sees, as JSON for the page."""

from __future__ import annotations

from typing import Any

from bot.sandbox import payloads, typing_commands
from bot.sandbox.channels import Place
from bot.sandbox.errors import Json
from bot.sandbox.message_payloads import file_payload
from bot.sandbox.messages import Message
from bot.sandbox.people import Person
from bot.sandbox.users import Bot, User
from bot.sandbox.world import World

TYPING_SECONDS = 10  # how long "is typing" is shown after one request


def everything(world: World, person: Person, place: Place | None) -> Json:
    """Return the people to choose from, the places that one sees, and what is in one place."""
    return {
        "people": [_account(each) for each in people(world)],
        "places": [_place(each) for each in world.places.values() if each.seen_by(person)],
        "inside": _inside(world, person, place) if place and place.seen_by(person) else None,
    }


def people(world: World) -> list[Person]:
    """Return whom a visitor can be: first those who own nothing, as most people do."""
    owners = {each.owner for each in world.guilds} | {world.developer}
    found = [each for each in world.persons if not each.is_bot]
    return sorted(found, key=lambda each: each in owners)


def _account(user: User) -> Json:
    return {"id": str(user.id), "name": user.name, "bot": user.is_bot}


def _place(place: Place) -> Json:
    parent = getattr(place, "parent", None)
    return {
        "id": str(place.id),
        "name": place.name,
        "kind": place.kind,
        "guild": place.guild.name if place.guild else None,
        "parent": str(parent.id) if parent else None,
    }


def _inside(world: World, person: Person, place: Place) -> Json:
    shown = [*place.history, *private(world, person, place)]
    shown.sort(key=lambda each: each.id)
    return {
        "id": str(place.id),
        "messages": [_message(each) for each in shown if not each.deleted],
        "typing": _typists(place),
        "commands": [_command(bot, each) for bot, each in typing_commands.available(place)],
    }


def private(world: World, person: Person, place: Place) -> list[Message]:
    """Return the ephemeral answers that the person got here."""
    mine = [each for each in world.interactions.values() if each.person is person]
    answers = [
        one for each in mine if each.place is place for one in (each.original, *each.followups)
    ]
    return [each for each in answers if each is not None and each.ephemeral]


def _message(message: Message) -> Json:
    reference = message.reference
    target = reference.target if reference else None
    return {
        "id": str(message.id),
        "author": _account(message.author),
        "content": message.content,
        "at": payloads.moment(message.created_at),
        "edited": message.edited_at is not None,
        "kind": message.kind.name,
        "ephemeral": message.ephemeral,
        "loading": not message.is_there,
        "reply_to": target.line() if target and not message.is_system else None,
        "files": [file_payload(message.place, each) for each in message.attachments],
        "embeds": message.embeds,
        "components": message.components,
        "thread": str(message.thread.id) if message.thread else None,
        "reactions": {key: len(users) for key, users in message.reactions.items() if users},
    }


def _typists(place: Place) -> list[str]:
    now = place.world.clock.now()
    latest: dict[str, Any] = {who.name: when for who, when in place.typists}
    spoken = {each.author.name: each.created_at for each in place.messages}
    return [
        name
        for name, when in latest.items()
        if (now - when).total_seconds() < TYPING_SECONDS and spoken.get(name, when) <= when
    ]


def _command(bot: Bot, command: Json) -> Json:
    return {
        "bot": bot.name,
        "name": command["name"],
        "description": command["description"],
        "options": command.get("options", []),
    }
