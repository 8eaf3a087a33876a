"""Who may do what where, with Discord's bits (reference, "Permissions")."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntFlag
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.sandbox.resources.channels import Channel
    from bot.sandbox.resources.guilds import Guild, Overwrite, Role
    from bot.sandbox.resources.users import User


class Permissions(IntFlag):
    """The bits that the sandbox knows."""

    CREATE_INSTANT_INVITE = 1 << 0
    KICK_MEMBERS = 1 << 1
    BAN_MEMBERS = 1 << 2
    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_AUDIT_LOG = 1 << 7
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    SEND_TTS_MESSAGES = 1 << 12
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_EXTERNAL_EMOJIS = 1 << 18
    CHANGE_NICKNAME = 1 << 26
    MANAGE_NICKNAMES = 1 << 27
    MANAGE_ROLES = 1 << 28
    MANAGE_WEBHOOKS = 1 << 29
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_EVENTS = 1 << 33
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38
    MODERATE_MEMBERS = 1 << 40
    CREATE_EVENTS = 1 << 44
    SEND_POLLS = 1 << 49
    PIN_MESSAGES = 1 << 51

    @classmethod
    def of(cls, names: Iterable[str]) -> Permissions:
        """Return the permissions with these names."""
        result = cls(0)
        for name in names:
            result |= cls[name]
        return result


ALL = Permissions.of(Permissions.__members__)
NONE = Permissions(0)
# What a new server gives @everyone, as far as the sandbox knows it.
DEFAULT = Permissions.of(
    [
        "VIEW_CHANNEL",
        "SEND_MESSAGES",
        "SEND_MESSAGES_IN_THREADS",
        "CREATE_PUBLIC_THREADS",
        "CREATE_PRIVATE_THREADS",
        "EMBED_LINKS",
        "ATTACH_FILES",
        "ADD_REACTIONS",
        "READ_MESSAGE_HISTORY",
        "MENTION_EVERYONE",
        "USE_EXTERNAL_EMOJIS",
        "USE_APPLICATION_COMMANDS",
        "CHANGE_NICKNAME",
        "CREATE_INSTANT_INVITE",
        "SEND_POLLS",
    ]
)
IN_DMS = Permissions.of(
    [
        "VIEW_CHANNEL",
        "SEND_MESSAGES",
        "EMBED_LINKS",
        "ATTACH_FILES",
        "ADD_REACTIONS",
        "READ_MESSAGE_HISTORY",
        "USE_EXTERNAL_EMOJIS",
        "USE_APPLICATION_COMMANDS",
        "PIN_MESSAGES",
    ]
)
# All that who is timed out keeps ("Permissions for Timed Out Members").
_TIMED_OUT = Permissions.of(("VIEW_CHANNEL", "READ_MESSAGE_HISTORY"))
# Without Send Messages these have no effect ("Implicit Permissions").
_NEED_SENDING = Permissions.of(
    ("MENTION_EVERYONE", "SEND_TTS_MESSAGES", "ATTACH_FILES", "EMBED_LINKS")
)


def in_guild(guild: Guild, user: User) -> Permissions:
    """Return what the user's roles give in the whole guild; nothing for a stranger."""
    member = guild.members.get(user.id)
    if member is None:
        return NONE
    if guild.owner is user:
        return ALL
    result = guild.everyone.permissions
    for role in member.roles:
        result |= role.permissions
    if Permissions.ADMINISTRATOR in result:
        return ALL
    return result & _TIMED_OUT if member.is_timed_out else result


def in_channel(
    channel: Channel, user: User, sending: Permissions = Permissions.SEND_MESSAGES
) -> Permissions:
    """Return what the user may do in a channel, overwrites included.

    ``sending`` is the permission that speaking takes there; in a thread it is another one.

    The steps follow the reference, "Permission Overwrites": @everyone, then roles taken
    together, then the member.
    """
    base = in_guild(channel.guild, user)
    if base in (ALL, NONE):
        return base
    overwrites = channel.overwrites
    result = _apply(base, [overwrites.get(channel.guild.everyone)])
    roles: list[Role] = channel.guild.members[user.id].roles
    result = _apply(result, [overwrites.get(role) for role in roles])
    result = _apply(result, [overwrites.get(user)])
    if channel.guild.members[user.id].is_timed_out:
        result &= _TIMED_OUT
    return _implicit(result, sending)


def _apply(base: Permissions, overwrites: list[Overwrite | None]) -> Permissions:
    allow, deny = NONE, NONE
    for overwrite in overwrites:
        if overwrite is not None:
            allow, deny = allow | overwrite.allow, deny | overwrite.deny
    return base & ~deny | allow


def _implicit(result: Permissions, sending: Permissions) -> Permissions:
    if Permissions.VIEW_CHANNEL not in result:
        return NONE
    if sending not in result:
        return result & ~_NEED_SENDING
    return result
