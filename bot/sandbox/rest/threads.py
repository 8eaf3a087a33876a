"""Threads: opening them, and who is in them."""

from typing import Any

from bot.sandbox.posting.memberships import join_thread, leave_thread
from bot.sandbox.posting.posts import require
from bot.sandbox.posting.threads import (
    add_to_thread,
    may_open,
    thread_in,
    thread_on,
)
from bot.sandbox.refusals.errors import Refusal
from bot.sandbox.refusals.forms import Form
from bot.sandbox.resources import payloads
from bot.sandbox.resources.channels import Thread
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.users import User
from bot.sandbox.rest.call import Call, Routes
from bot.sandbox.rest.channels import ARCHIVE_MINUTES
from bot.sandbox.rest.guilds import require_members_intent

PUBLIC, PRIVATE = 11, 12


def _named(form: Form) -> tuple[str, int]:
    name = form.text("name", 1, 100, required=True) or ""
    minutes = form.choice("auto_archive_duration", ARCHIVE_MINUTES) or 1440
    form.finish()
    return name, minutes


async def on_message(call: Call) -> Any:
    """Open the thread of a message."""
    message, form = call.message(), await call.form()
    name, minutes = _named(form)
    thread = thread_on(message, call.bot, name, minutes=minutes)
    return payloads.thread_for(thread, call.bot)


async def without_message(call: Call) -> Any:
    """Open a thread in a channel; without a type it is a private one."""
    place, form = call.place(), await call.form()
    private = (form.choice("type", {PUBLIC, PRIVATE}) or PRIVATE) == PRIVATE
    name, minutes = _named(form)
    channel = may_open(place, call.bot, private=private)
    thread = thread_in(channel, call.bot, name, private=private, minutes=minutes)
    return payloads.thread_for(thread, call.bot)


def _thread(call: Call) -> Thread:
    place = call.place()
    if not isinstance(place, Thread):
        raise Refusal.WRONG_CHANNEL_TYPE.error()
    return place


def _open_thread(call: Call) -> Thread:
    thread = _thread(call)
    if thread.archived:
        raise Refusal.ARCHIVED_THREAD.error()
    return thread


def _whom(call: Call) -> User:
    user = call.world.users.get(call.number("user"))
    if user is None:
        raise Refusal.UNKNOWN_USER.error()
    return user


async def join(call: Call) -> Any:
    """Join, or bring someone in, which takes the permission to send there."""
    thread, user = _open_thread(call), _whom(call)
    if user is call.bot:
        join_thread(thread, user)
    else:
        require(thread, call.bot, thread.sending)
        add_to_thread(thread, user, by=call.bot)


async def leave(call: Call) -> Any:
    """Leave, or put someone out, which takes a moderator or the owner of a private thread."""
    thread, user = _open_thread(call), _whom(call)
    if user is not call.bot and not (thread.private and thread.owner is call.bot):
        require(thread, call.bot, Permissions.MANAGE_THREADS)
    leave_thread(thread, user)


async def members(call: Call) -> Any:
    """Return all memberships; needs the members intent."""
    require_members_intent(call)
    thread = _thread(call)
    return [payloads.thread_member(thread, each) for each in thread.members]


async def member(call: Call) -> Any:
    """Return one membership."""
    thread, number = _thread(call), call.number("user")
    if number not in thread.members:
        raise Refusal.UNKNOWN_MEMBER.error()
    return payloads.thread_member(thread, number)


async def archived(call: Call) -> Any:
    """Return the archived threads of a channel, latest first."""
    channel = _threads_below(call)
    private = call.text("kind") == "private"
    if private:
        require(call.place(), call.bot, Permissions.MANAGE_THREADS)
    return _listed(call, [each for each in channel if each.archived and each.private == private])


async def archived_of_mine(call: Call) -> Any:
    """Return the archived private threads that the bot is in."""
    mine = [each for each in _threads_below(call) if call.bot.id in each.members]
    return _listed(call, [each for each in mine if each.archived and each.private])


def _listed(call: Call, found: list[Thread]) -> Any:
    found = [each for each in found if each.seen_by(call.bot)]
    found.sort(key=lambda each: each.archive_changed_at, reverse=True)
    mine = [each for each in found if call.bot.id in each.members]
    return {
        "threads": [payloads.thread_for(each, call.bot) for each in found],
        "members": [payloads.thread_member(each, call.bot.id) for each in mine],
        "has_more": False,
    }


def _threads_below(call: Call) -> list[Thread]:
    """Return the threads below the channel of the path."""
    place = call.place(Permissions.READ_MESSAGE_HISTORY)
    threads = getattr(place, "threads", None)
    if not isinstance(threads, list):
        raise Refusal.WRONG_CHANNEL_TYPE.error()
    return threads


CHANNEL = "/channels/{channel:\\d+}"
MEMBER = CHANNEL + "/thread-members/{user:@me|\\d+}"
ROUTES: Routes = [
    ("POST", CHANNEL + "/messages/{message:\\d+}/threads", on_message),
    ("POST", CHANNEL + "/threads", without_message),
    ("GET", CHANNEL + "/thread-members", members),
    ("GET", MEMBER, member),
    ("PUT", MEMBER, join),
    ("DELETE", MEMBER, leave),
    ("GET", CHANNEL + "/threads/archived/{kind:public|private}", archived),
    ("GET", CHANNEL + "/users/@me/threads/archived/private", archived_of_mine),
]
