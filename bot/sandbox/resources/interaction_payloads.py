"""The JSON of an interaction, as a bot gets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources import message_payloads, payloads
from bot.sandbox.resources.channels import Place
from bot.sandbox.resources.messages import UPLOAD_LIMIT
from bot.sandbox.resources.users import User

if TYPE_CHECKING:
    from bot.sandbox.resources.guilds import Guild
    from bot.sandbox.resources.interactions import Interaction


def interaction(each: Interaction) -> Json:
    """Return everything an INTERACTION_CREATE carries."""
    body: Json = {
        "id": str(each.id),
        "application_id": str(each.bot.application_id),
        "type": int(each.kind),
        "token": each.token,
        "version": 1,
        "data": each.data,
        "channel_id": str(each.place.id),
        "channel": channel_for(each.place, each.person),
        "app_permissions": str(int(each.place.permissions_for(each.bot))),
        "locale": "en-US",
        "entitlements": [],
        "authorizing_integration_owners": each.owners,
        "context": 0 if each.place.guild else 1,
        "attachment_size_limit": UPLOAD_LIMIT,
    }
    if each.message is not None:
        body["message"] = message_payloads.for_rest(each.message, each.bot)
    guild = each.place.guild
    return body | (_in_guild(each, guild) if guild else {"user": payloads.user(each.person)})


def _in_guild(each: Interaction, guild: Guild) -> Json:
    granted = str(int(each.place.permissions_for(each.person)))
    return {
        "guild_id": str(guild.id),
        "guild": {"id": str(guild.id), "locale": "en-US", "features": []},
        "guild_locale": "en-US",
        "member": member_for(each.place, each.person) | {"permissions": granted},
    }


def member_for(place: Place, user: User) -> Json:
    """Return the user as a member of the place's guild."""
    guild = place.guild
    if guild is None or user.id not in guild.members:
        return {}
    return payloads.member(guild.members[user.id])


def channel_for(place: Place, user: User) -> Json:
    """Return a place with what the user may do there."""
    return payloads.place(place) | {"permissions": str(int(place.permissions_for(user)))}
