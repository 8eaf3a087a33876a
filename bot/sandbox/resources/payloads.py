"""The JSON that Discord would send for each thing."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources.channels import Channel, DirectChannel, Place, Thread
from bot.sandbox.resources.users import Bot, Intents, User

if TYPE_CHECKING:
    from bot.sandbox.resources.guilds import Guild, Member, Role
    from bot.sandbox.resources.sessions import Session

# In the application's flags: Message Content and Guild Members for a small bot.
GATEWAY_FLAGS = {Intents.MESSAGE_CONTENT: 1 << 19, Intents.GUILD_MEMBERS: 1 << 15}


def moment(value: datetime | None) -> str | None:
    """Return a time as Discord writes it."""
    return None if value is None else value.isoformat()


def user(account: User) -> Json:
    """Return an account."""
    return {
        "id": str(account.id),
        "username": account.name,
        "discriminator": "0000" if account.is_bot else "0",
        "global_name": None if account.is_bot else account.name,
        "avatar": None,
        "bot": account.is_bot,
        "public_flags": 0,
    }


def application(bot: Bot) -> Json:
    """Return a bot's application."""
    flags = sum(flag for intent, flag in GATEWAY_FLAGS.items() if intent in bot.privileged)
    return {
        "id": str(bot.application_id),
        "name": bot.name,
        "icon": None,
        "description": "",
        "summary": "",
        "verify_key": "",
        "bot_public": True,
        "bot_require_code_grant": False,
        "flags": flags,
        "owner": user(bot.world.developer),
        "team": None,
        "bot": user(bot),
    }


def role(each: Role) -> Json:
    """Return a role."""
    tags = {"bot_id": str(each.managed_by.id)} if each.managed_by else {}
    return {
        "id": str(each.id),
        "name": each.name,
        "permissions": str(int(each.permissions)),
        "position": each.position,
        "mentionable": each.mentionable,
        "managed": each.managed_by is not None,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "flags": 0,
    } | ({"tags": tags} if tags else {})


def member(each: Member, *, with_user: bool = True) -> Json:
    """Return a member; inside a message the account stands beside it."""
    body: Json = {
        "roles": [str(held.id) for held in each.roles],
        "nick": each.nick,
        "avatar": None,
        "joined_at": moment(each.joined_at),
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "pending": False,
        "flags": 0,
        "communication_disabled_until": moment(each.timed_out_until),
    }
    return body | ({"user": user(each.user)} if with_user else {})


def place(where: Place) -> Json:
    """Return a channel, thread or DM."""
    body: Json = {"id": str(where.id), "type": where.kind, "flags": 0}
    body["last_message_id"] = str(where.last_message_id) if where.last_message_id else None
    if isinstance(where, DirectChannel):
        return body | {"recipients": [user(where.person)]}
    body |= {"name": where.name, "rate_limit_per_user": 0}
    if isinstance(where, Thread):
        return body | _thread(where)
    return body | _channel(where) if isinstance(where, Channel) else body


def _channel(channel: Channel) -> Json:
    return {
        "guild_id": str(channel.guild.id),
        "topic": channel.topic,
        "position": channel.position,
        "parent_id": None,
        "nsfw": False,
        "permission_overwrites": [
            {
                "id": str(whom.id),
                "type": 1 if isinstance(whom, User) else 0,
                "allow": str(int(overwrite.allow)),
                "deny": str(int(overwrite.deny)),
            }
            for whom, overwrite in channel.overwrites.items()
        ],
    }


def _thread(thread: Thread) -> Json:
    count = len([each for each in thread.history if not each.deleted and not each.is_system])
    return {
        "guild_id": str(thread.guild.id),
        "parent_id": str(thread.parent.id),
        "owner_id": str(thread.owner.id),
        "member_count": min(len(thread.members), 50),
        "message_count": count,
        "total_message_sent": len(thread.history),
        "thread_metadata": {
            "archived": thread.archived,
            "locked": thread.locked,
            "auto_archive_duration": thread.auto_archive_duration,
            "archive_timestamp": moment(thread.archive_changed_at),
            "create_timestamp": moment(thread.created_at),
        }
        | ({"invitable": thread.invitable} if thread.private else {}),
    }


def thread_for(thread: Thread, viewer: Bot) -> Json:
    """Return a thread with the viewer's own membership, as lists and events carry it."""
    body = place(thread)
    if viewer.id in thread.members:
        body["member"] = thread_member(thread, viewer.id)
    return body


def thread_member(thread: Thread, user_id: int) -> Json:
    """Return a membership of a thread."""
    return {
        "id": str(thread.id),
        "user_id": str(user_id),
        "join_timestamp": moment(thread.members[user_id]),
        "flags": 0,
    }


def guild(each: Guild) -> Json:
    """Return a guild as the REST interface does."""
    nothing = "icon splash discovery_splash description banner afk_channel_id system_channel_id"
    return {
        "id": str(each.id),
        "name": each.name,
        "owner_id": str(each.owner.id),
        "roles": [role(held) for held in each.roles],
        "emojis": [],
        "stickers": [held.payload(each) for held in each.stickers],
        "features": [],
        "region": "",
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "nsfw": False,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "premium_progress_bar_enabled": False,
        "preferred_locale": "en-US",
        "system_channel_flags": 0,
    } | dict.fromkeys(
        [*nothing.split(), "rules_channel_id", "vanity_url_code", "application_id"], None
    )


def guild_create(each: Guild, session: Session) -> Json:
    """Return what a bot is told of a guild when it connects or joins.

    Without the members intent it is shown no member but itself.
    """
    viewer = session.bot
    everyone = Intents.GUILD_MEMBERS in session.intents
    shown = [one for one in each.members.values() if everyone or one.user is viewer]
    threads = [one for one in each.threads if one.seen_by(viewer) and not one.archived]
    nothing = "voice_states presences stage_instances guild_scheduled_events soundboard_sounds"
    body: Json = guild(each) | {
        "large": False,
        "joined_at": moment(each.members[viewer.id].joined_at),
        "member_count": len(each.members),
        "members": [member(one) for one in shown],
        "channels": [place(one) for one in each.channels if one.seen_by(viewer)],
        "threads": [thread_for(one, viewer) for one in threads],
    }
    return body | {key: [] for key in nothing.split()}
