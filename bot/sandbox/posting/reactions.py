"""The small signs: reactions, pins and typing."""

from __future__ import annotations

from bot.sandbox.posting.edits import changed, refuse_archived
from bot.sandbox.posting.posts import require
from bot.sandbox.posting.threads import system_message
from bot.sandbox.refusals.errors import Json, Refusal
from bot.sandbox.resources import payloads
from bot.sandbox.resources.channels import Place
from bot.sandbox.resources.messages import Kind, Message, Reference
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.users import Intents, User

MOST_PINS = 250


def add(message: Message, user: User, emoji: str) -> None:
    """Add a reaction."""
    refuse_archived(message.place)
    require(message.place, user, Permissions.READ_MESSAGE_HISTORY)
    if emoji not in message.reactions:
        require(message.place, user, Permissions.ADD_REACTIONS)
    users = message.reactions.setdefault(emoji, [])
    if user not in users:
        users.append(user)
        _tell(message, user, emoji, "MESSAGE_REACTION_ADD")


def remove(message: Message, user: User, emoji: str) -> None:
    """Take a reaction away."""
    users = message.reactions.get(emoji, [])
    if user in users:
        users.remove(user)
        _tell(message, user, emoji, "MESSAGE_REACTION_REMOVE")


def _tell(message: Message, user: User, emoji: str, event: str) -> None:
    body = _located(message.place) | {
        "user_id": str(user.id),
        "message_id": str(message.id),
        "message_author_id": str(message.author.id),
        "emoji": {"id": None, "name": emoji},
        "burst": False,
        "type": 0,
    }
    guild = message.place.guild
    if guild is not None and user.id in guild.members:
        body["member"] = payloads.member(guild.members[user.id])
    message.world.hub.in_place(
        message.place,
        event,
        lambda _: body,
        Intents.GUILD_MESSAGE_REACTIONS,
        Intents.DIRECT_MESSAGE_REACTIONS,
    )


def _located(place: Place) -> Json:
    body: Json = {"channel_id": str(place.id)}
    return body | ({"guild_id": str(place.guild.id)} if place.guild is not None else {})


def pin(message: Message, by: User) -> None:
    """Pin a message, which Discord says in the place; pinning it again changes nothing."""
    if message.pinned_at is None:
        if len(message.place.pins) >= MOST_PINS:
            raise Refusal.TOO_MANY_PINS.error()
        message.pinned_at = message.world.clock.now()
        _pins_changed(message)
        reference = Reference(message.place.id, message.id, message)
        system_message(message.place, Kind.PINNED, "", reference, by)


def unpin(message: Message) -> None:
    """Unpin a message."""
    if message.pinned_at is not None:
        message.pinned_at = None
        _pins_changed(message)


def _pins_changed(message: Message) -> None:
    changed(message)
    pins = message.place.pins
    latest = payloads.moment(pins[0].pinned_at) if pins else None
    body = _located(message.place) | {"last_pin_timestamp": latest}
    message.world.hub.in_place(
        message.place, "CHANNEL_PINS_UPDATE", lambda _: body, Intents.GUILDS, Intents(0)
    )


def typing(place: Place, user: User) -> None:
    """Show that someone types."""
    place.typists.append((user, place.world.clock.now()))
    body = _located(place) | {
        "user_id": str(user.id),
        "timestamp": int(place.world.clock.now().timestamp()),
    }
    if place.guild is not None:
        body["member"] = payloads.member(place.guild.members[user.id])
    place.world.hub.in_place(
        place,
        "TYPING_START",
        lambda _: body,
        Intents.GUILD_MESSAGE_TYPING,
        Intents.DIRECT_MESSAGE_TYPING,
    )
