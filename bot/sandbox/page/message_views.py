"""Messages and forms as one person sees them, as JSON for the page."""

from __future__ import annotations

from bot.sandbox.people.person import Person
from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources import payloads
from bot.sandbox.resources.channels import Place, Thread
from bot.sandbox.resources.message_payloads import file_payload
from bot.sandbox.resources.messages import Attachment, Flags, Kind, Message, Snapshot
from bot.sandbox.resources.modals import Modal
from bot.sandbox.resources.users import User

IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
QUOTED = 200  # characters of a message that a reply shows


def account(user: User) -> Json:
    """Return an account."""
    return {"id": str(user.id), "name": user.name, "bot": user.is_bot}


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
        "author": account(each.author),
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
        "stickers": [sticker.name for sticker in each.stickers],
        "poll": _poll(each),
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
    return {"id": str(target.id), "author": account(target.author), "text": text}


def _starter(each: Message, person: Person) -> Json | None:
    target = each.reference.target if each.reference else None
    began = each.kind is Kind.THREAD_STARTER and target is not None and not target.deleted
    return message(target, person) if began and target is not None else None


def _run(each: Message) -> Json | None:
    interaction = each.interaction
    if interaction is None or each.kind is not Kind.COMMAND:
        return None
    return {"by": interaction.person.name, "name": interaction.data["name"]}


def _forwarded(each: Snapshot, person: Person) -> Json:
    return {
        "content": each.content,
        "files": [_file(each.origin, file) for file in each.attachments],
        "stickers": [sticker.name for sticker in each.stickers],
        "embeds": each.embeds,
        "at": payloads.moment(each.created_at),
        "origin": each.origin.name if each.origin.seen_by(person) else None,
    }


def _poll(each: Message) -> Json | None:
    if each.poll is None:
        return None
    answers = [str(media.get("text", "")) for media in each.poll.answers]
    return {"question": each.poll.question, "answers": answers}


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
