"""Changing messages and taking them away, whoever wrote them."""

from __future__ import annotations

from datetime import timedelta

from bot.sandbox.posting import mentions
from bot.sandbox.posting.drafts import Draft
from bot.sandbox.posting.publishing import stored, tell
from bot.sandbox.refusals.errors import Json, Refusal
from bot.sandbox.resources.channels import Place, Thread
from bot.sandbox.resources.messages import Attachment, Flags, Message
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.users import Intents, User

# How many is not documented; the error exists for messages older than an hour.
OLD, OLD_EDITS = timedelta(hours=1), 5


def edit(message: Message, draft: Draft) -> None:
    """Change what a draft speaks of; the mentions are computed anew from the draft alone."""
    _refuse_edit(message, draft)
    now = message.world.clock.now()
    if draft.content is not None and draft.content != message.content:
        message.edits.append((now, draft.content))
    message.edited_at = now
    _change(message, draft)
    if draft.content is not None:
        mentions.apply(message, draft.allowed)
    changed(message)


def changed(message: Message) -> None:
    """Tell who may know that a message is different now."""
    message.revision += 1
    if message.seen_only_by is None:
        tell(message, "MESSAGE_UPDATE")
    message.world.pulse.beat()


def _refuse_edit(message: Message, draft: Draft) -> None:
    now = message.world.clock.now()
    late = [when for when, _ in message.edits if when - message.created_at > OLD]
    if now - message.created_at > OLD and len(late) >= OLD_EDITS:
        raise Refusal.OLD_EDITS.error()
    refuse_closed(message.place, message.author)
    after = (
        draft.content if draft.content is not None else message.content,
        draft.embeds if draft.embeds is not None else message.embeds,
        draft.components if draft.components is not None else message.components,
        draft.uploads,
        _kept(message, draft),
    )
    if not any(part.strip() if isinstance(part, str) else part for part in after):
        raise Refusal.EMPTY_MESSAGE.error()


def refuse_closed(place: Place, user: User) -> None:
    """Refuse what takes an open thread, as the reference's page "Threads" lists it."""
    refuse_archived(place)
    moderator = Permissions.MANAGE_THREADS in place.permissions_for(user)
    if isinstance(place, Thread) and place.locked and not moderator:
        raise Refusal.LOCKED_THREAD.error()


def refuse_archived(place: Place) -> None:
    """Refuse what does not happen in an archived thread."""
    if isinstance(place, Thread) and place.archived:
        raise Refusal.ARCHIVED_THREAD.error()


def _kept(message: Message, draft: Draft) -> list[Attachment]:
    if draft.keep is None:
        return message.attachments
    return [each for each in message.attachments if each.id in draft.keep]


def _change(message: Message, draft: Draft) -> None:
    if draft.content is not None:
        message.content = draft.content
    if draft.embeds is not None:
        message.embeds = draft.embeds
    if draft.components is not None:
        message.components = draft.components
    message.attachments = _kept(message, draft)
    message.attachments += [stored(message.place, each) for each in draft.uploads]
    fixed = message.flags & (Flags.EPHEMERAL | Flags.HAS_THREAD)
    message.flags = draft.flags & ~(Flags.EPHEMERAL | Flags.LOADING) | fixed


def delete(message: Message) -> None:
    """Take a message away."""
    message.deleted = True
    if message.seen_only_by is None:
        _gone(message.place, "MESSAGE_DELETE", {"id": str(message.id)})
    message.world.pulse.beat()


def delete_many(place: Place, messages: list[Message]) -> None:
    """Take several messages away at once."""
    for message in messages:
        message.deleted = True
    _gone(place, "MESSAGE_DELETE_BULK", {"ids": [str(each.id) for each in messages]})


def _gone(place: Place, event: str, what: Json) -> None:
    body = what | {"channel_id": str(place.id)}
    if place.guild is not None:
        body["guild_id"] = str(place.guild.id)
    place.world.hub.in_place(
        place, event, lambda _: body, Intents.GUILD_MESSAGES, Intents.DIRECT_MESSAGES
    )
