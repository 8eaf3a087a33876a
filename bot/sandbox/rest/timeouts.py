"""Timing members out (reference, "Modify Guild Member"; the hierarchy is that of kicks)."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.sandbox.refusals.errors import Refusal
from bot.sandbox.refusals.forms import Form
from bot.sandbox.resources.guilds import Guild, Member
from bot.sandbox.resources.permissions import Permissions, in_guild
from bot.sandbox.resources.users import User

FIELD = "communication_disabled_until"
LONGEST = timedelta(days=28)


def change(guild: Guild, by: User, target: Member, form: Form) -> None:
    """Time a member out, or end that; it is all of a member that can be changed here."""
    for key in form.body.keys() - {FIELD}:
        form.wrong("SANDBOX_UNKNOWN_FIELD", "The sandbox does not have this field.", key)
    until = form.time(FIELD)
    if until is not None and until > guild.world.clock.now() + LONGEST:
        form.wrong("COMMUNICATION_DISABLED_TOO_LONG", "At most 28 days from now.", FIELD)
    form.finish()
    _may(guild, by, target, until)
    guild.time_out(target.user, until)


def _may(guild: Guild, by: User, target: Member, until: datetime | None) -> None:
    if Permissions.MODERATE_MEMBERS not in in_guild(guild, by):
        raise Refusal.MISSING_PERMISSIONS.error()
    if target.user is guild.owner or target.user is by:
        raise Refusal.MISSING_PERMISSIONS.error()
    administers = Permissions.ADMINISTRATOR in in_guild(guild, target.user)
    if until is not None and administers:
        raise Refusal.MISSING_PERMISSIONS.error()
    if guild.owner is not by and target.rank >= guild.members[by.id].rank:
        raise Refusal.MISSING_PERMISSIONS.error()
