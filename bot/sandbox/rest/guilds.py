"""Guilds, their members and roles."""

from typing import Any

from bot.sandbox.refusals.errors import Refusal
from bot.sandbox.resources import payloads
from bot.sandbox.resources.guilds import AuditEntry
from bot.sandbox.resources.permissions import Permissions, in_guild
from bot.sandbox.resources.users import Intents
from bot.sandbox.rest import timeouts
from bot.sandbox.rest.call import Call, Routes


async def guild(call: Call) -> Any:
    """Return a guild."""
    found = call.guild()
    counts = {
        "approximate_member_count": len(found.members),
        "approximate_presence_count": len(found.members),
    }
    return payloads.guild(found) | (counts if "with_counts" in call.request.query else {})


async def channels(call: Call) -> Any:
    """Return the channels that the bot may see."""
    return [payloads.place(each) for each in call.guild().channels if each.seen_by(call.bot)]


async def members(call: Call) -> Any:
    """Return members in the order of their ids; needs the members intent."""
    found = call.guild()
    require_members_intent(call)
    after = call.query("after") or 0
    ordered = sorted(each for each in found.members if each > after)
    limit = call.query("limit") or 1
    return [payloads.member(found.members[each]) for each in ordered[:limit]]


def require_members_intent(call: Call) -> None:
    """Refuse lists of members to an application without the privileged intent."""
    if Intents.GUILD_MEMBERS not in call.bot.privileged:
        raise Refusal.MISSING_ACCESS.error()


async def member(call: Call) -> Any:
    """Return one member."""
    found = call.guild().members.get(call.number("user"))
    if found is None:
        raise Refusal.UNKNOWN_MEMBER.error()
    return payloads.member(found)


async def change_member(call: Call) -> Any:
    """Time a member out, or end that."""
    guild, form, reason = call.guild(), await call.form(), call.reason
    target = guild.members.get(call.number("user"))
    if target is None:
        raise Refusal.UNKNOWN_MEMBER.error()
    timeouts.change(guild, call.bot, target, form)
    guild.audit_log.append(AuditEntry("member_update", call.bot, target.user, reason))
    return payloads.member(target)


async def roles(call: Call) -> Any:
    """Return all roles."""
    return [payloads.role(each) for each in call.guild().roles]


async def role(call: Call) -> Any:
    """Return one role."""
    number = call.number("role")
    for each in call.guild().roles:
        if each.id == number:
            return payloads.role(each)
    raise Refusal.UNKNOWN_ROLE.error()


async def change_role_of_member(call: Call) -> Any:
    """Give a member a role, or take it away."""
    guild = call.guild()
    if Permissions.MANAGE_ROLES not in in_guild(guild, call.bot):
        raise Refusal.MISSING_PERMISSIONS.error()
    target = guild.members.get(call.number("user"))
    found = next((each for each in guild.roles if each.id == call.number("role")), None)
    if target is None or found is None:
        raise (Refusal.UNKNOWN_MEMBER if target is None else Refusal.UNKNOWN_ROLE).error()
    held = found in target.roles
    if call.request.method == "PUT" and not held:
        guild.give(target.user, found)
    elif call.request.method == "DELETE" and held:
        guild.take(target.user, found)


async def active_threads(call: Call) -> Any:
    """Return the open threads that the bot may see, with its memberships."""
    open_ones = [each for each in call.guild().threads if not each.archived]
    seen = [each for each in open_ones if each.seen_by(call.bot)]
    mine = [each for each in seen if call.bot.id in each.members]
    return {
        "threads": [payloads.thread_for(each, call.bot) for each in seen],
        "members": [payloads.thread_member(each, call.bot.id) for each in mine],
    }


GUILD = "/guilds/{guild:\\d+}"
ROUTES: Routes = [
    ("GET", GUILD, guild),
    ("GET", GUILD + "/channels", channels),
    ("GET", GUILD + "/members", members),
    ("GET", GUILD + "/members/{user:\\d+}", member),
    ("PATCH", GUILD + "/members/{user:\\d+}", change_member),
    ("PUT", GUILD + "/members/{user:\\d+}/roles/{role:\\d+}", change_role_of_member),
    ("DELETE", GUILD + "/members/{user:\\d+}/roles/{role:\\d+}", change_role_of_member),
    ("GET", GUILD + "/roles", roles),
    ("GET", GUILD + "/roles/{role:\\d+}", role),
    ("GET", GUILD + "/threads/active", active_threads),
]
