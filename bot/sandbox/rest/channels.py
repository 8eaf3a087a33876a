"""Channels themselves: fetch, change, typing and pins."""

from datetime import datetime
from typing import Any

from bot.sandbox.posting import reactions
from bot.sandbox.posting.posts import require
from bot.sandbox.posting.threads import rename
from bot.sandbox.refusals.errors import Refusal
from bot.sandbox.refusals.forms import Form
from bot.sandbox.resources import message_payloads, payloads
from bot.sandbox.resources.channels import Channel, DirectChannel, Place, Thread
from bot.sandbox.resources.messages import Message
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.users import Bot, Intents
from bot.sandbox.rest.call import Call, Routes

PINS_AT_ONCE = 50
ARCHIVE_MINUTES = {60, 1440, 4320, 10080}


async def fetch(call: Call) -> Any:
    """Return a channel, thread or DM."""
    return _shown(call.place(), call.bot)


def _shown(place: Place, bot: Bot) -> Any:
    return payloads.thread_for(place, bot) if isinstance(place, Thread) else payloads.place(place)


async def change(call: Call) -> Any:
    """Rename or reconfigure a channel or thread."""
    place, form = call.place(), await call.form()
    if isinstance(place, Thread):
        _change_thread(place, form, call.bot)
    elif isinstance(place, Channel):
        _change_channel(place, form, call.bot)
    else:
        raise Refusal.WRONG_CHANNEL_TYPE.error()
    return _shown(place, call.bot)


def _change_channel(channel: Channel, form: Form, bot: Bot) -> None:
    require(channel, bot, Permissions.MANAGE_CHANNELS)
    name, topic = form.text("name", 1, 100), form.text("topic", 0, 1024)
    form.finish()
    channel.name = name or channel.name
    channel.topic = topic if "topic" in form.body else channel.topic
    channel.world.hub.in_place(
        channel, "CHANNEL_UPDATE", lambda _: payloads.place(channel), Intents.GUILDS
    )


def _change_thread(thread: Thread, form: Form, bot: Bot) -> None:
    name = form.text("name", 1, 100)
    archived, locked = form.value("archived", bool), form.value("locked", bool)
    minutes = form.choice("auto_archive_duration", ARCHIVE_MINUTES)
    form.finish()
    _may_change_thread(thread, bot, locking=locked is not None, opening=archived is False)
    rename(thread, name or thread.name, by=bot)
    thread.set_archived(thread.archived if archived is None else archived)
    thread.locked = thread.locked if locked is None else locked
    thread.auto_archive_duration = minutes or thread.auto_archive_duration
    thread.world.hub.thread_changed(thread)


def _may_change_thread(thread: Thread, bot: Bot, *, locking: bool, opening: bool) -> None:
    if Permissions.MANAGE_THREADS in thread.permissions_for(bot):
        return
    if locking or not (thread.owner is bot or (opening and bot.id in thread.members)):
        raise Refusal.MISSING_PERMISSIONS.error()
    if thread.archived and (thread.locked or not opening):
        raise Refusal.ARCHIVED_THREAD.error()


async def remove(call: Call) -> Any:
    """Close a DM, or delete a thread or channel."""
    place = call.place()
    shown = _shown(place, call.bot)
    if isinstance(place, DirectChannel):
        return shown
    if isinstance(place, Thread):
        require(place, call.bot, Permissions.MANAGE_THREADS)
        _tell_gone(place, "THREAD_DELETE")
        place.parent.threads.remove(place)
    elif isinstance(place, Channel):
        require(place, call.bot, Permissions.MANAGE_CHANNELS)
        _tell_gone(place, "CHANNEL_DELETE")
        place.guild.channels.remove(place)
        for thread in place.threads:
            del call.world.places[thread.id]
    del call.world.places[place.id]
    return shown


def _tell_gone(place: Place, event: str) -> None:
    body = payloads.place(place)
    place.world.hub.in_place(place, event, lambda _: body, Intents.GUILDS)


async def typing(call: Call) -> Any:
    """Show that the bot types."""
    place = call.place()
    require(place, call.bot, place.sending)
    reactions.typing(place, call.bot)


async def pins(call: Call) -> Any:
    """Return pinned messages, latest pin first; none without Read Message History."""
    form = Form(dict(call.request.query))
    before, limit = form.time("before"), form.snowflake("limit")
    limit = PINS_AT_ONCE if limit is None else limit
    if not 1 <= limit <= PINS_AT_ONCE:
        form.wrong("NUMBER_TYPE_MAX", "int value should be between 1 and 50.", "limit")
    form.finish()
    found = [each for each in _pins(call) if before is None or _pinned_at(each) < before]
    items = [
        {
            "pinned_at": payloads.moment(each.pinned_at),
            "message": message_payloads.for_rest(each, call.bot),
        }
        for each in found[:limit]
    ]
    return {"items": items, "has_more": len(found) > limit}


async def first_pins(call: Call) -> Any:
    """Return the latest 50 pinned messages, as the deprecated route does."""
    latest = _pins(call)[:PINS_AT_ONCE]
    return [message_payloads.for_rest(each, call.bot) for each in latest]


def _pins(call: Call) -> list[Message]:
    place = call.place()
    reads = Permissions.READ_MESSAGE_HISTORY in place.permissions_for(call.bot)
    return place.pins if reads else []


def _pinned_at(message: Message) -> datetime:
    assert message.pinned_at is not None  # noqa: S101 - it is one of the pins
    return message.pinned_at


async def pin(call: Call) -> Any:
    """Pin a message."""
    message = call.message(Permissions.PIN_MESSAGES)
    if message.is_system:
        raise Refusal.SYSTEM_MESSAGE.error()
    reactions.pin(message, by=call.bot)


async def unpin(call: Call) -> Any:
    """Unpin a message."""
    reactions.unpin(call.message(Permissions.PIN_MESSAGES))


CHANNEL = "/channels/{channel:\\d+}"
ROUTES: Routes = [
    ("GET", CHANNEL, fetch),
    ("PATCH", CHANNEL, change),
    ("DELETE", CHANNEL, remove),
    ("POST", CHANNEL + "/typing", typing),
    ("GET", CHANNEL + "/messages/pins", pins),
    ("PUT", CHANNEL + "/messages/pins/{message:\\d+}", pin),
    ("DELETE", CHANNEL + "/messages/pins/{message:\\d+}", unpin),
    ("GET", CHANNEL + "/pins", first_pins),
    ("PUT", CHANNEL + "/pins/{message:\\d+}", pin),
    ("DELETE", CHANNEL + "/pins/{message:\\d+}", unpin),
]
