"""Opening threads, and coming and going in them."""

from __future__ import annotations

from bot.sandbox import payloads
from bot.sandbox.channels import Channel, Place, Thread
from bot.sandbox.errors import Refusal
from bot.sandbox.messages import Flags, Kind, Message, Reference
from bot.sandbox.permissions import Permissions
from bot.sandbox.users import Bot, Intents, User


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
    from bot.sandbox.posting import (
        publish,  # posting needs this module, for threads that it opens again
    )

    world = place.world
    message = Message(
        world, world.ids.next(), place, author, world.clock.now(), kind, content=content
    )
    message.reference = reference
    publish(message)
    return message


def set_archived(thread: Thread, archived: bool) -> None:
    """Archive a thread or open it again; the caller tells of it."""
    if thread.archived != archived:
        thread.archived, thread.archive_changed_at = archived, thread.world.clock.now()


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


def thread_changed(thread: Thread) -> None:
    """Tell that a thread has another name or state."""
    thread.world.hub.in_place(
        thread,
        "THREAD_UPDATE",
        lambda session: payloads.thread_for(thread, session.bot),
        Intents.GUILDS,
    )


def join_thread(thread: Thread, user: User) -> None:
    """Make someone a member of a thread."""
    if user.id in thread.members:
        return
    thread.members[user.id] = thread.world.clock.now()
    if thread.private and isinstance(user, Bot):
        _shown_to(thread, user)
    _members_changed(thread, added=[user])


def _shown_to(thread: Thread, bot: Bot) -> None:
    """Tell a bot of a private thread that it did not see before."""
    thread.world.hub.to_bot(
        bot, "THREAD_CREATE", lambda _: payloads.thread_for(thread, bot), thread.guild
    )


def leave_thread(thread: Thread, user: User) -> None:
    """End someone's membership of a thread."""
    if thread.members.pop(user.id, None) is not None:
        _members_changed(thread, removed=[user])


def _members_changed(
    thread: Thread, added: list[User] | None = None, removed: list[User] | None = None
) -> None:
    body = {
        "id": str(thread.id),
        "guild_id": str(thread.guild.id),
        "member_count": min(len(thread.members), 50),
        "added_members": [payloads.thread_member(thread, each.id) for each in added or []],
        "removed_member_ids": [str(each.id) for each in removed or []],
    }
    # Without the members intent a bot hears of itself only (reference, "Thread Members Update").
    hub = thread.world.hub
    for each in (*(added or []), *(removed or [])):
        hub.thread_members(thread, each, body)
