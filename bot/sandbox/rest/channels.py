"""Channels themselves: fetch, change, typing and pins."""

from typing import Any

from bot.sandbox import message_payloads, payloads, reactions
from bot.sandbox.channels import Channel, DirectChannel, Place, Thread
from bot.sandbox.errors import Refusal
from bot.sandbox.forms import Form
from bot.sandbox.permissions import Permissions
from bot.sandbox.posting import require
from bot.sandbox.rest.call import Call, Routes
from bot.sandbox.threads import rename, set_archived, thread_changed
from bot.sandbox.users import Bot, Intents

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
    set_archived(thread, thread.archived if archived is None else archived)
    thread.locked = thread.locked if locked is None else locked
    thread.auto_archive_duration = minutes or thread.auto_archive_duration
    thread_changed(thread)


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
    """Return the pinned messages, latest pin first."""
    place = call.place(Permissions.READ_MESSAGE_HISTORY)
    items = [
        {
            "pinned_at": payloads.moment(each.pinned_at),
            "message": message_payloads.for_rest(each, call.bot),
        }
        for each in place.pins
    ]
    return {"items": items, "has_more": False}


async def pin(call: Call) -> Any:
    """Pin a message."""
    reactions.pin(call.message(*_pinning(call)))


async def unpin(call: Call) -> Any:
    """Unpin a message."""
    reactions.unpin(call.message(*_pinning(call)))


def _pinning(call: Call) -> tuple[Permissions, ...]:
    granted = call.place().permissions_for(call.bot)
    # Pinning was part of Manage Messages before it got a permission of its own.
    managed = Permissions.MANAGE_MESSAGES in granted
    return () if managed else (Permissions.PIN_MESSAGES,)


CHANNEL = "/channels/{channel:\\d+}"
ROUTES: Routes = [
    ("GET", CHANNEL, fetch),
    ("PATCH", CHANNEL, change),
    ("DELETE", CHANNEL, remove),
    ("POST", CHANNEL + "/typing", typing),
    ("GET", CHANNEL + "/messages/pins", pins),
    ("PUT", CHANNEL + "/messages/pins/{message:\\d+}", pin),
    ("DELETE", CHANNEL + "/messages/pins/{message:\\d+}", unpin),
    ("PUT", CHANNEL + "/pins/{message:\\d+}", pin),
    ("DELETE", CHANNEL + "/pins/{message:\\d+}", unpin),
]
