"""Opening threads, and what Discord says in them and elsewhere."""

from __future__ import annotations

from bot.sandbox.posting.memberships import join_thread
from bot.sandbox.posting.publishing import publish
from bot.sandbox.refusals.errors import Refusal
from bot.sandbox.resources import payloads
from bot.sandbox.resources.channels import Channel, Place, Thread
from bot.sandbox.resources.messages import Flags, Kind, Message, Reference
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.users import Intents, User


def may_open(place: Place, user: User, *, private: bool) -> Channel:
    """Return the channel to open a thread in, or refuse."""
    granted = place.permissions_for(user)
    if Permissions.VIEW_CHANNEL not in granted:
        raise Refusal.MISSING_ACCESS.error()
    if not isinstance(place, Channel):
        raise Refusal.WRONG_CHANNEL_TYPE.error()
    needed = Permissions.CREATE_PRIVATE_THREADS if private else Permissions.CREATE_PUBLIC_THREADS
    if needed not in granted:
        raise Refusal.MISSING_PERMISSIONS.error()
    return place


def thread_on(message: Message, owner: User, name: str, *, minutes: int = 1440) -> Thread:
    """Open the one thread that a message can have; its id is the message's."""
    channel = may_open(message.place, owner, private=False)
    if message.thread is not None or message.id in message.world.places:
        raise Refusal.THREAD_EXISTS.error()
    if message.is_system:
        raise Refusal.SYSTEM_MESSAGE.error()
    thread = Thread(channel, name, owner, thread_id=message.id, private=False)
    message.thread, message.flags = thread, message.flags | Flags.HAS_THREAD
    _opened(thread, minutes)
    system_message(
        thread, Kind.THREAD_STARTER, "", Reference(channel.id, message.id, message), message.author
    )
    return thread


def thread_in(
    channel: Channel, owner: User, name: str, *, private: bool = False, minutes: int = 1440
) -> Thread:
    """Open a thread that hangs on no message."""
    may_open(channel, owner, private=private)
    thread = Thread(channel, name, owner, thread_id=owner.world.ids.next(), private=private)
    _opened(thread, minutes)
    if not private:
        system_message(channel, Kind.THREAD_CREATED, name, Reference(thread.id, None, None), owner)
    return thread


def _opened(thread: Thread, minutes: int) -> None:
    thread.auto_archive_duration = minutes
    thread.parent.threads.append(thread)
    thread.world.places[thread.id] = thread
    thread.members[thread.owner.id] = thread.world.clock.now()
    thread.world.hub.in_place(
        thread,
        "THREAD_CREATE",
        lambda session: payloads.thread_for(thread, session.bot) | {"newly_created": True},
        Intents.GUILDS,
    )


def system_message(
    place: Place, kind: Kind, content: str, reference: Reference | None, author: User
) -> Message:
    """Say in a place what somebody did there, as Discord does."""
    world = place.world
    message = Message(
        world, world.ids.next(), place, author, world.clock.now(), kind, content=content
    )
    message.reference = reference
    publish(message)
    return message


def rename(thread: Thread, name: str, by: User) -> None:
    """Give a thread another name, which Discord says in it."""
    if thread.name != name:
        thread.name = name
        system_message(thread, Kind.NAME_CHANGED, name, None, by)


def add_to_thread(thread: Thread, user: User, by: User) -> None:
    """Bring someone else into a thread, which Discord says in it."""
    if user.id not in thread.members:
        join_thread(thread, user)
        system_message(thread, Kind.MEMBER_ADDED, "", None, by).mentions = [user]
