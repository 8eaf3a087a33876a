"""What one person sees around the messages, as JSON for the page."""

from __future__ import annotations

from bot.sandbox.gestures import typing_commands
from bot.sandbox.page.message_views import account
from bot.sandbox.people.person import Person
from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources import payloads
from bot.sandbox.resources.channels import Channel, DirectChannel, Place, Thread
from bot.sandbox.resources.guilds import Guild
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.world import LoggedRequest, World

MAY = {
    "attach": Permissions.ATTACH_FILES,
    "react": Permissions.ADD_REACTIONS,
    "thread": Permissions.CREATE_PUBLIC_THREADS,
    "manage": Permissions.MANAGE_MESSAGES,
}
MODERATES = Permissions.MANAGE_MESSAGES | Permissions.MANAGE_GUILD | Permissions.MANAGE_THREADS


def surroundings(world: World, person: Person, place: Place | None) -> Json:
    """Return everything around the messages: people, places, names, and what one may do here."""
    seen = [each for each in world.places.values() if each.seen_by(person)]
    online = {each.bot for each in world.hub.sessions if each.line is not None}
    return {
        "you": str(person.id),
        "people": [account(each) | {"about": _about(each)} for each in people(world)],
        "bots": [account(each) | {"online": each in online} for each in world.bots],
        "guilds": [_guild(each, seen) for each in world.guilds if person.id in each.members],
        "directs": [
            _place(each) | {"name": each.bot.name, "bot": str(each.bot.id)}
            for each in seen
            if isinstance(each, DirectChannel)
        ],
        "names": {
            "users": {str(each.id): each.name for each in world.users.values()},
            "roles": {str(role.id): role.name for each in world.guilds for role in each.roles},
            "places": {str(each.id): each.name for each in seen},
        },
        "here": _here(person, place) if place is not None and place in seen else None,
    }


def people(world: World) -> list[Person]:
    """Return whom a visitor can be: those who own nothing, as most people do, if there are any."""
    owners = {each.owner for each in world.guilds} | {world.developer}
    found = [each for each in world.persons if not each.is_bot]
    return [each for each in found if each not in owners] or found


def _about(person: Person) -> str:
    granted = [
        each.owner is person or any(role.permissions & MODERATES for role in member.roles)
        for each in person.world.guilds
        if (member := each.members.get(person.id))
    ]
    standing = "moderator" if any(granted) else "member" if granted else "not in the server"
    return person.about or standing


def _guild(guild: Guild, seen: list[Place]) -> Json:
    return {
        "id": str(guild.id),
        "name": guild.name,
        "channels": [
            _place(each) | {"threads": [_thread(one) for one in each.threads if one in seen]}
            for each in guild.channels
            if each in seen
        ],
    }


def _thread(thread: Thread) -> Json:
    return _place(thread) | {"archived": thread.archived}


def _place(place: Place) -> Json:
    latest = str(place.last_message_id) if place.last_message_id else None
    return {"id": str(place.id), "name": place.name, "kind": place.kind, "latest": latest}


def _here(person: Person, place: Place) -> Json:
    granted = place.permissions_for(person)
    open_for = not getattr(place, "locked", False) or Permissions.MANAGE_THREADS in granted
    return {
        "id": str(place.id),
        "topic": place.topic if isinstance(place, Channel) else None,
        "parent": str(place.parent.id) if isinstance(place, Thread) else None,
        "may": {key: needed in granted for key, needed in MAY.items()}
        | {"send": place.sending in granted and open_for},
        "typing": [each for each in _typists(place) if each["id"] != str(person.id)],
        "commands": [_command(each) for each in typing_commands.offered(person, place)],
    }


def _typists(place: Place) -> list[Json]:
    """Return who types, and since when; the page decides how long that is shown."""
    latest = dict(place.typists)
    for each in place.messages if latest else ():
        if each.author in latest and each.created_at > latest[each.author]:
            del latest[each.author]
    return [
        {"id": str(who.id), "name": who.name, "at": payloads.moment(when)}
        for who, when in latest.items()
    ]


def _command(typed: typing_commands.Typed) -> Json:
    return {
        "bot": typed.bot.name,
        "name": typed.name,
        "description": typed.description,
        "options": typed.options,
    }


def request(number: int, each: LoggedRequest) -> Json:
    """Return a request that a bot made."""
    return {
        "number": number,
        "method": each.method,
        "path": each.path,
        "status": each.status,
        "ms": round(each.seconds * 1000, 1),
        "limits": dict(each.limits),
    }
