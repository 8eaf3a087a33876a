"""Coming and going in threads."""

from __future__ import annotations

from bot.sandbox.resources import payloads
from bot.sandbox.resources.channels import Thread
from bot.sandbox.resources.users import Bot, User


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
