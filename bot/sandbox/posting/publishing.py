"""Telling of a message, and keeping its files."""

from __future__ import annotations

from bot.sandbox.posting.drafts import Upload
from bot.sandbox.posting.memberships import join_thread
from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources import message_payloads
from bot.sandbox.resources.channels import Place, Thread
from bot.sandbox.resources.messages import Attachment, Message
from bot.sandbox.resources.users import Intents


def stored(place: Place, upload: Upload) -> Attachment:
    """Keep an uploaded file where the sandbox can serve it."""
    each = Attachment(
        place.world.ids.next(),
        upload.filename,
        upload.data,
        upload.content_type,
        upload.description,
    )
    place.world.files[each.id] = each
    return each


def publish(message: Message) -> None:
    """Add a message to the place's history and tell who may know."""
    place = message.place
    place.history.append(message)
    place.last_message_id = message.id
    if isinstance(place, Thread) and message.webhook_id is None and not message.is_system:
        join_thread(place, message.author)
    _tell(message, "MESSAGE_CREATE", message_payloads.nonce_of(message))


def tell(message: Message, event: str) -> None:
    """Send an event about a message to who may know of it."""
    _tell(message, event, {})


def _tell(message: Message, event: str, more: Json) -> None:
    message.world.hub.in_place(
        message.place,
        event,
        lambda session: message_payloads.for_session(message, session) | more,
        Intents.GUILD_MESSAGES,
        Intents.DIRECT_MESSAGES,
    )
