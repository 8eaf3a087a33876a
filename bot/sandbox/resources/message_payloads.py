"""The JSON of messages, and what a viewer without Message Content sees of them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources import payloads
from bot.sandbox.resources.channels import Place
from bot.sandbox.resources.messages import FORWARDS, Attachment, Flags, Message, Snapshot
from bot.sandbox.resources.users import Bot

if TYPE_CHECKING:
    from bot.sandbox.resources.sessions import Session

HIDDEN: Json = {"content": "", "attachments": [], "embeds": [], "components": []}


def nonce_of(message: Message) -> Json:
    """Return the nonce that a message was sent with, which is told once and never again."""
    return {} if message.nonce is None else {"nonce": message.nonce}


def for_rest(message: Message, viewer: Bot) -> Json:
    """Return a message as the REST interface shows it to a bot."""
    return _shown(message, viewer, allowed=viewer.reads_content)


def for_session(message: Message, session: Session) -> Json:
    """Return a message as the gateway shows it: with guild and member beside it."""
    body = _shown(message, session.bot, allowed=session.reads_content)
    body["channel_type"] = message.place.kind
    guild = message.place.guild
    if guild is not None:
        body["guild_id"] = str(guild.id)
        member = guild.members.get(message.author.id)
        if member is not None and message.webhook_id is None:
            body["member"] = payloads.member(member, with_user=False)
    return body


def _shown(message: Message, viewer: Bot, *, allowed: bool) -> Json:
    body = _whole(message)
    if not viewer.may_read(message, allowed=allowed):
        body |= HIDDEN
        body.pop("poll", None)
        for snapshot in body.get("message_snapshots", []):
            snapshot["message"] |= HIDDEN
    for emoji in body["reactions"]:
        emoji["me"] = viewer in message.reactions[emoji["emoji"]["name"]]
    if message.reference is not None:
        target = message.reference.target
        standing = target is not None and not target.deleted
        body["referenced_message"] = (
            _shown(target, viewer, allowed=allowed) | {"referenced_message": None}
            if target is not None and standing
            else None
        )
    return body


def _whole(message: Message) -> Json:
    body: Json = {
        "id": str(message.id),
        "channel_id": str(message.place.id),
        "type": int(message.kind),
        "author": payloads.user(message.author),
        "content": message.content,
        "timestamp": payloads.moment(message.created_at),
        "edited_timestamp": payloads.moment(message.edited_at),
        "tts": message.tts,
        "mention_everyone": message.mention_everyone,
        "mentions": [_mentioned(message, each.id) for each in message.mentions],
        "mention_roles": [str(each.id) for each in message.mention_roles],
        "attachments": [file_payload(message.place, each) for each in message.attachments],
        "embeds": [] if Flags.SUPPRESS_EMBEDS in message.flags else message.embeds,
        "components": message.components,
        "reactions": _reactions(message),
        "pinned": message.pinned_at is not None,
        "flags": int(message.flags),
    }
    return body | _extras(message)


def _extras(message: Message) -> Json:
    extras: Json = {}
    if message.stickers:
        extras["sticker_items"] = [each.item() for each in message.stickers]
    if message.poll is not None:
        extras["poll"] = message.poll.payload(message.created_at)
    if message.webhook_id is not None:
        extras["webhook_id"] = str(message.webhook_id)
    if message.thread is not None:
        extras["thread"] = payloads.place(message.thread)
    if message.reference is not None:
        extras["message_reference"] = _reference(message)
    if message.forwarded is not None:
        extras |= _forwarded(message.forwarded)
    if message.interaction is not None:
        extras["application_id"] = str(message.interaction.bot.application_id)
        extras["interaction_metadata"] = _metadata(message)
    return extras


def _forwarded(each: Snapshot) -> Json:
    reference = {
        "type": FORWARDS,
        "channel_id": str(each.origin.id),
        "message_id": str(each.message_id),
    }
    if each.origin.guild is not None:
        reference["guild_id"] = str(each.origin.guild.id)
    snapshot = {
        "type": int(each.kind),
        "content": each.content,
        "embeds": each.embeds,
        "components": each.components,
        "attachments": [file_payload(each.origin, file) for file in each.attachments],
        "timestamp": payloads.moment(each.created_at),
        "edited_timestamp": payloads.moment(each.edited_at),
        "flags": int(each.flags),
        "mentions": [payloads.user(user) for user in each.mentions],
        "mention_roles": [str(role.id) for role in each.mention_roles],
    }
    if each.stickers:
        snapshot["sticker_items"] = [sticker.item() for sticker in each.stickers]
    return {"message_reference": reference, "message_snapshots": [{"message": snapshot}]}


def _reference(message: Message) -> Json:
    reference = message.reference
    body: Json = {"type": 0}
    if reference is not None:
        body["channel_id"] = str(reference.channel_id)
        if reference.message_id is not None:
            body["message_id"] = str(reference.message_id)
    if message.place.guild is not None:
        body["guild_id"] = str(message.place.guild.id)
    return body


def _metadata(message: Message) -> Json:
    interaction = message.interaction
    if interaction is None:
        return {}
    return {
        "id": str(interaction.id),
        "type": int(interaction.kind),
        "user": payloads.user(interaction.person),
        "authorizing_integration_owners": interaction.owners,
    }


def _mentioned(message: Message, user_id: int) -> Json:
    account = message.world.users[user_id]
    body = payloads.user(account)
    guild = message.place.guild
    if guild is not None and user_id in guild.members:
        body["member"] = payloads.member(guild.members[user_id], with_user=False)
    return body


def _reactions(message: Message) -> list[Json]:
    return [
        {
            "emoji": {"id": None, "name": emoji},
            "count": len(users),
            "count_details": {"normal": len(users), "burst": 0},
            "me": False,
            "me_burst": False,
            "burst_colors": [],
        }
        for emoji, users in message.reactions.items()
        if users
    ]


def file_payload(place: Place, each: Attachment) -> Json:
    """Return a file, with the address where the sandbox serves it."""
    url = f"{place.world.cdn}/attachments/{place.id}/{each.id}/{quote(each.filename)}"
    body: Json = {
        "id": str(each.id),
        "filename": each.filename,
        "size": len(each.data),
        "url": url,
        "proxy_url": url,
    }
    if each.content_type is not None:
        body["content_type"] = each.content_type
    if each.description is not None:
        body["description"] = each.description
    return body
