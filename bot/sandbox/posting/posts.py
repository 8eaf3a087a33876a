"""What happens when someone posts, whoever it is."""

from __future__ import annotations

from dataclasses import dataclass

from bot.sandbox.posting import mentions
from bot.sandbox.posting.drafts import Draft, Forward, ReplyTo
from bot.sandbox.posting.publishing import publish, stored
from bot.sandbox.refusals.errors import Refusal
from bot.sandbox.resources.channels import DirectChannel, Place, Thread
from bot.sandbox.resources.interactions import Interaction
from bot.sandbox.resources.messages import Flags, Kind, Message, Reference, Snapshot
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.state import State
from bot.sandbox.resources.stickers import chosen
from bot.sandbox.resources.users import Bot, User


@dataclass(frozen=True)
class Origin:
    """Where a message comes from when no account simply wrote it."""

    kind: Kind = Kind.DEFAULT
    webhook_id: int | None = None
    interaction: Interaction | None = None


DIRECTLY = Origin()


def require(place: Place, user: User, *needed: Permissions) -> None:
    """Refuse who may not look in (50001) or lacks a permission (50013)."""
    granted = place.permissions_for(user)
    if Permissions.VIEW_CHANNEL not in granted:
        raise Refusal.MISSING_ACCESS.error()
    if any(each not in granted for each in needed):
        raise Refusal.MISSING_PERMISSIONS.error()


def post(place: Place, author: User, draft: Draft, origin: Origin = DIRECTLY) -> Message:
    """Put a message into a place, or refuse it as Discord does."""
    if origin is DIRECTLY:
        _may_post(place, author, draft)
    if Flags.LOADING not in draft.flags:
        draft.refuse_empty()
    if origin is DIRECTLY and draft.enforce_nonce:
        earlier = place.world.nonces.earlier(place, author, draft.nonce)
        if earlier is not None:
            return earlier
    _open_archived(place, author)
    message = _made(place, author, draft, origin)
    mentions.apply(message, draft.allowed)
    if message.seen_only_by is None:
        publish(message)
    if origin is DIRECTLY:
        place.world.nonces.remember(message)
    place.world.pulse.beat()
    return message


def _may_post(place: Place, author: User, draft: Draft) -> None:
    require(place, author, place.sending)
    if draft.uploads:
        require(place, author, Permissions.ATTACH_FILES)
    if draft.poll is not None and place.guild is not None:
        require(place, author, Permissions.SEND_POLLS)
    if draft.embeds:
        require(place, author, Permissions.EMBED_LINKS)
    if draft.reply_to is not None:
        require(place, author, Permissions.READ_MESSAGE_HISTORY)
    if isinstance(place, DirectChannel) and isinstance(author, Bot):
        _refuse_closed_dm(place)


def _refuse_closed_dm(place: DirectChannel) -> None:
    world, bot = place.world, place.bot
    shared = any({bot.id, place.person.id} <= set(each.members) for each in world.guilds)
    if place.person in world.dms_closed or not shared:
        raise Refusal.DMS_CLOSED.error()


def _open_archived(place: Place, author: User) -> None:
    """Posting in an archived thread opens it, unless a moderator has locked it."""
    if not isinstance(place, Thread):
        return
    moderator = Permissions.MANAGE_THREADS in place.permissions_for(author)
    if place.locked and not moderator:
        raise (Refusal.ARCHIVED_THREAD if place.archived else Refusal.LOCKED_THREAD).error()
    if place.archived:
        place.set_archived(False)
        place.world.hub.thread_changed(place)


def _made(place: Place, author: User, draft: Draft, origin: Origin) -> Message:
    world = place.world
    reference = _resolved(place, draft.reply_to)
    forwarded = _snapshot(place.world, author, draft.forward)
    private = Flags.EPHEMERAL in draft.flags and origin.interaction is not None
    message = Message(
        world,
        world.ids.next(),
        place,
        author,
        world.clock.now(),
        kind=Kind.REPLY if reference and origin.kind is Kind.DEFAULT else origin.kind,
        content=draft.content or "",
        embeds=draft.embeds or [],
        components=draft.components or [],
        attachments=[stored(place, each) for each in draft.uploads],
        stickers=chosen(place, draft.stickers),
        poll=draft.poll,
        reference=reference,
        forwarded=forwarded,
        flags=draft.flags if private else draft.flags & ~Flags.EPHEMERAL,
        nonce=draft.nonce,
        tts=draft.tts,
        webhook_id=origin.webhook_id,
        interaction=origin.interaction,
    )
    if private and origin.interaction is not None:
        message.seen_only_by = origin.interaction.person
    if forwarded is not None:
        message.flags |= Flags.HAS_SNAPSHOT
    return message


def _snapshot(world: State, author: User, forward: Forward | None) -> Snapshot | None:
    """Return what is forwarded; its author must be able to read it."""
    if forward is None:
        return None
    origin = world.places.get(forward.channel_id)
    if origin is None:
        raise Refusal.UNKNOWN_CHANNEL.error()
    require(origin, author, Permissions.READ_MESSAGE_HISTORY)
    message = origin.find(forward.message_id)
    if message is None:
        raise Refusal.UNKNOWN_MESSAGE.error()
    if message.is_system:
        raise Refusal.SYSTEM_MESSAGE.error()
    if message.poll is not None:  # "disallowed if there are any polls", says the reference
        text = {"code": "MESSAGE_REFERENCE_INVALID", "message": "A poll cannot be forwarded."}
        raise Refusal.INVALID_FORM.error({"message_reference": {"_errors": [text]}})
    return Snapshot.of(message)


def _resolved(place: Place, reply_to: ReplyTo | None) -> Reference | None:
    if reply_to is None:
        return None
    target = place.find(reply_to.message_id)
    if target is None and reply_to.fail_if_not_exists:
        text = {"code": "REPLIES_UNKNOWN_MESSAGE", "message": "Unknown message"}
        raise Refusal.INVALID_FORM.error({"message_reference": {"_errors": [text]}})
    return Reference(place.id, reply_to.message_id, target) if target is not None else None
