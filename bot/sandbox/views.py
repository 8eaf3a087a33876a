"""What one person sees, as JSON for the page."""

from __future__ import annotations

from bot.sandbox import payloads, typing_commands
from bot.sandbox.channels import Channel, DirectChannel, Place, Thread
from bot.sandbox.errors import Json
from bot.sandbox.guilds import Guild
from bot.sandbox.message_payloads import file_payload
from bot.sandbox.messages import Attachment, Flags, Message, Snapshot
from bot.sandbox.modals import Modal
from bot.sandbox.people import Person
from bot.sandbox.permissions import Permissions
from bot.sandbox.users import User
from bot.sandbox.world import LoggedRequest, World

IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
MAY = {
    "attach": Permissions.ATTACH_FILES,
    "react": Permissions.ADD_REACTIONS,
    "thread": Permissions.CREATE_PUBLIC_THREADS,
    "manage": Permissions.MANAGE_MESSAGES,
}
MODERATES = Permissions.MANAGE_MESSAGES | Permissions.MANAGE_GUILD | Permissions.MANAGE_THREADS
QUOTED = 200  # characters of a message that a reply shows


def surroundings(world: World, person: Person, place: Place | None) -> Json:
    """Return everything around the messages: people, places, names, and what one may do here."""
    seen = [each for each in world.places.values() if each.seen_by(person)]
    online = {each.bot for each in world.hub.sessions}
    return {
        "you": str(person.id),
        "people": [_account(each) | {"about": _about(each)} for each in people(world)],
        "bots": [_account(each) | {"online": each in online} for each in world.bots],
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


def _account(user: User) -> Json:
    return {"id": str(user.id), "name": user.name, "bot": user.is_bot}


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


def visible(person: Person, place: Place) -> list[Message]:
    """Return the messages of a place, and the ephemeral answers that the person got there."""
    shown = [each for each in place.history if not each.deleted]
    own = [each for each in private(person, place) if not each.deleted]
    return sorted([*shown, *own], key=lambda each: each.id) if own else shown


def private(person: Person, place: Place) -> list[Message]:
    """Return the ephemeral answers that the person got here."""
    mine = [each for each in place.world.interactions.values() if each.person is person]
    answers = [
        one for each in mine if each.place is place for one in (each.original, *each.followups)
    ]
    return [each for each in answers if each is not None and each.ephemeral]


def message(each: Message, person: Person) -> Json:
    """Return a message; what does not hold of it is left out."""
    body: Json = {
        "author": _account(each.author),
        "content": each.content,
        "edited": each.edited_at is not None,
        "kind": each.kind.name,
        "ephemeral": each.ephemeral,
        "loading": not each.is_there,
        "pings": each.mention_everyone or _pinged(each, person),
        "mentioned": each.mentions[0].name if each.is_system and each.mentions else None,
        "reply": None if each.is_system else _reply(each),
        "starter": _starter(each, person),
        "command": _run(each),
        "forwarded": _forwarded(each.forwarded, person) if each.forwarded else None,
        "files": [_file(each.place, file) for file in each.attachments],
        "embeds": [] if Flags.SUPPRESS_EMBEDS in each.flags else each.embeds,
        "components": each.components,
        "reactions": _reactions(each, person),
        "thread": _opened(each.thread) if each.thread and each.thread.seen_by(person) else None,
    }
    kept = {key: value for key, value in body.items() if value}
    return {"id": str(each.id), "at": payloads.moment(each.created_at), **kept}


def _pinged(each: Message, person: Person) -> bool:
    guild = each.place.guild
    roles = guild.members[person.id].roles if guild and person.id in guild.members else []
    return person in each.mentions or any(role in roles for role in each.mention_roles)


def _reply(each: Message) -> Json | None:
    if each.reference is None:
        return None
    target = each.reference.target
    if target is None or target.deleted:
        return {"gone": True}
    text = target.content[:QUOTED] or ("a file" if target.attachments else "a message")
    return {"id": str(target.id), "author": _account(target.author), "text": text}


def _starter(each: Message, person: Person) -> Json | None:
    target = each.reference.target if each.reference else None
    began = each.kind.name == "THREAD_STARTER" and target is not None and not target.deleted
    return message(target, person) if began and target is not None else None


def _run(each: Message) -> Json | None:
    interaction = each.interaction
    if interaction is None or each.kind.name != "COMMAND":
        return None
    return {"by": interaction.person.name, "name": interaction.data["name"]}


def _forwarded(each: Snapshot, person: Person) -> Json:
    return {
        "content": each.content,
        "files": [_file(each.origin, file) for file in each.attachments],
        "embeds": each.embeds,
        "at": payloads.moment(each.created_at),
        "origin": each.origin.name if each.origin.seen_by(person) else None,
    }


def _file(place: Place, file: Attachment) -> Json:
    shown = file_payload(place, file)
    # By path alone, so that the page finds it under whichever name it was opened.
    url = str(shown["url"]).removeprefix(place.world.cdn)
    return shown | {"url": url, "image": file.media_type in IMAGES}


def _reactions(each: Message, person: Person) -> list[Json]:
    return [
        {"emoji": emoji, "count": len(users), "me": person in users}
        for emoji, users in each.reactions.items()
        if users
    ]


def _opened(thread: Thread) -> Json:
    count = sum(not each.deleted and not each.is_system for each in thread.history)
    return {"id": str(thread.id), "name": thread.name, "count": count}


def modal(each: Modal) -> Json:
    """Return a form for the person whom it is for."""
    return {
        "id": str(each.opened_by.id),
        "title": each.title,
        "components": each.body["components"],
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
