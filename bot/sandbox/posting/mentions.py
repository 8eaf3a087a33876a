"""Whom a message notifies (reference, "Allowed Mentions Object")."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.sandbox.refusals.forms import Form
from bot.sandbox.resources.guilds import Role
from bot.sandbox.resources.messages import Message, Ping
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.users import User

USER = re.compile(r"<@!?(\d+)>")
ROLE = re.compile(r"<@&(\d+)>")
EVERYONE = re.compile(r"@(everyone|here)")
KINDS = ("users", "roles", "everyone")


@dataclass(frozen=True)
class Allowed:
    """What may be pinged; None as a list means all that are written."""

    users: list[int] | None = None
    roles: list[int] | None = None
    everyone: bool = True
    replied_user: bool = True

    @classmethod
    def of(cls, form: Form | None) -> Allowed:
        """Read the field of a message; one that is left out allows everything."""
        if form is None:
            return cls()
        parse = form.value("parse", list) or []
        for place, kind in enumerate(parse):
            if kind not in KINDS:
                form.wrong("BASE_TYPE_CHOICES", f"Value must be one of {KINDS}.", "parse", place)
        return cls(
            users=cls._listed(form, parse, "users"),
            roles=cls._listed(form, parse, "roles"),
            everyone="everyone" in parse,
            replied_user=form.value("replied_user", bool) or False,
        )

    @staticmethod
    def _listed(form: Form, parse: list[object], kind: str) -> list[int] | None:
        listed = form.snowflakes(kind)
        if kind in parse and listed:
            text = f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.'
            form.wrong("MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", text)
        return None if kind in parse else listed or []


def apply(message: Message, allowed: Allowed) -> None:
    """Set the mentions of a message from its content, and record who is newly pinged."""
    before = _everyone_of(message)
    message.mentions = _users(message, allowed)
    message.mention_roles = _roles(message, allowed)
    message.mention_everyone = (
        allowed.everyone and EVERYONE.search(message.content) is not None and _may_ping_all(message)
    )
    now = message.world.clock.now()
    fresh = [each for each in _everyone_of(message) if each not in before]
    message.world.pings += [Ping(message, each, now) for each in fresh]


def _everyone_of(message: Message) -> list[User | Role | str]:
    found: list[User | Role | str] = [*message.mentions, *message.mention_roles]
    return [*found, "@everyone"] if message.mention_everyone else found


def _users(message: Message, allowed: Allowed) -> list[User]:
    ids = [int(each) for each in USER.findall(message.content)]
    wanted = [each for each in ids if allowed.users is None or each in allowed.users]
    users = message.world.users
    found = [users[each] for each in dict.fromkeys(wanted) if each in users]
    reference = message.reference
    target = reference.target if reference is not None else None
    if allowed.replied_user and target is not None and target.author is not message.author:
        found.append(target.author)
    return list(dict.fromkeys(found))


def _roles(message: Message, allowed: Allowed) -> list[Role]:
    guild = message.place.guild
    if guild is None:
        return []
    ids = {int(each) for each in ROLE.findall(message.content)}
    wanted = ids if allowed.roles is None else ids & set(allowed.roles)
    every = _may_ping_all(message)
    return [each for each in guild.roles if each.id in wanted and (each.mentionable or every)]


def _may_ping_all(message: Message) -> bool:
    # Webhooks and answers to interactions are bound by no role.
    if message.webhook_id is not None or message.interaction is not None:
        return True
    return Permissions.MENTION_EVERYONE in message.place.permissions_for(message.author)
