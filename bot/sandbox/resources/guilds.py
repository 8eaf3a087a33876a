"""Servers, which Discord's protocol calls guilds: their roles and members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot.sandbox.resources import payloads, permissions
from bot.sandbox.resources.channels import Channel, Thread
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.resources.stickers import Sticker
from bot.sandbox.resources.users import Bot, Intents, User

if TYPE_CHECKING:
    from bot.sandbox.resources.scheduled_events import ScheduledEvent
    from bot.sandbox.resources.state import State


@dataclass(eq=False)
class Role:
    """A named set of permissions."""

    id: int
    name: str
    permissions: Permissions
    position: int
    mentionable: bool = False
    managed_by: Bot | None = None

    @property
    def mention(self) -> str:
        """The text that mentions this role."""
        return f"<@&{self.id}>"


@dataclass(frozen=True)
class Overwrite:
    """What a channel allows or denies to one role or member."""

    allow: Permissions = permissions.NONE
    deny: Permissions = permissions.NONE

    @classmethod
    def of(cls, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> Overwrite:
        """Make one from the names of permissions."""
        return cls(Permissions.of(allow), Permissions.of(deny))


@dataclass(eq=False)
class Member:
    """A user in a guild."""

    user: User
    joined_at: datetime
    roles: list[Role] = field(default_factory=list)
    nick: str | None = None
    timed_out_until: datetime | None = None

    @property
    def is_timed_out(self) -> bool:
        """Whether they may only look on for now."""
        until = self.timed_out_until
        return until is not None and until > self.user.world.clock.now()

    @property
    def rank(self) -> int:
        """The position of the highest role; @everyone's is 0."""
        return max((role.position for role in self.roles), default=0)


@dataclass(frozen=True)
class AuditEntry:
    """What a bot did to a guild, and the reason that it gave."""

    action: str
    by: User
    target: object
    reason: str | None


class Guild:
    """A server with its roles, members, channels, threads and scheduled events."""

    def __init__(self, world: State, name: str, owner: User) -> None:
        self.world, self.name, self.owner = world, name, owner
        self.id = world.ids.next()
        # The role that everyone has carries the guild's own id.
        self.everyone = Role(self.id, "@everyone", permissions.DEFAULT, position=0)
        self.roles = [self.everyone]
        self.members: dict[int, Member] = {}
        self.channels: list[Channel] = []
        self.events: list[ScheduledEvent] = []
        self.audit_log: list[AuditEntry] = []
        self.stickers: list[Sticker] = []
        self.join(owner)

    @property
    def threads(self) -> list[Thread]:
        """All threads, archived ones too."""
        return [thread for channel in self.channels for thread in channel.threads]

    def channel(
        self,
        name: str,
        *,
        topic: str | None = None,
        overwrites: Mapping[Any, Overwrite] | None = None,
    ) -> Channel:
        """Add a text channel; ``overwrites`` are given by role or user."""
        channel = Channel(self, name, topic, dict(overwrites or {}))
        self.channels.append(channel)
        self.world.places[channel.id] = channel
        self.world.hub.in_place(
            channel, "CHANNEL_CREATE", lambda _: payloads.place(channel), Intents.GUILDS
        )
        return channel

    def sticker(self, name: str) -> Sticker:
        """Add a sticker, before the bots connect: they are not told of changes."""
        sticker = Sticker(self.world.ids.next(), name)
        self.stickers.append(sticker)
        return sticker

    def permits(
        self,
        whom: Role | User,
        *,
        in_: Channel,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
    ) -> None:
        """Set what a channel allows and denies to a role or member, and tell the bots."""
        in_.overwrites[whom] = Overwrite.of(allow, deny)
        self.world.hub.in_place(
            in_, "CHANNEL_UPDATE", lambda _: payloads.place(in_), Intents.GUILDS
        )

    def role(
        self, name: str, *, permissions: Iterable[str] = (), mentionable: bool = False
    ) -> Role:
        """Add a role."""
        role = self._add_role(name, Permissions.of(permissions))
        role.mentionable = mentionable
        return role

    def _add_role(self, name: str, granted: Permissions, managed_by: Bot | None = None) -> Role:
        role = Role(self.world.ids.next(), name, granted, len(self.roles), managed_by=managed_by)
        self.roles.append(role)
        self._tell("GUILD_ROLE_CREATE", "role", payloads.role(role))
        return role

    def _tell(self, event: str, key: str, value: object) -> None:
        body = {"guild_id": str(self.id), key: value}
        self.world.hub.in_guild(self, event, lambda _: body, Intents.GUILDS)

    def join(
        self,
        user: User,
        *,
        permissions: Iterable[str] = (),
        roles: Iterable[Role] = (),
        nick: str | None = None,
    ) -> Member:
        """Let someone in; permissions come as a role of their own, as an invited bot's do."""
        if user.id in self.members:
            raise ValueError(f"{user.name} is in {self.name} already; see grant")
        member = Member(user, self.world.clock.now(), list(roles), nick)
        member.roles += self._own_role(user, Permissions.of(permissions))
        self.members[user.id] = member
        self._welcome(member)
        return member

    def grant(self, user: User, *permissions: str) -> None:
        """Give a member permissions, as a role of its own."""
        self.members[user.id].roles += self._own_role(user, Permissions.of(permissions))
        self._changed(user)

    def _own_role(self, user: User, granted: Permissions) -> list[Role]:
        bot = user if isinstance(user, Bot) else None
        return [self._add_role(user.name, granted, bot)] if granted else []

    def _welcome(self, member: Member) -> None:
        if isinstance(member.user, Bot):
            self.world.hub.to_bot(
                member.user, "GUILD_CREATE", lambda each: payloads.guild_create(self, each), self
            )
        body = payloads.member(member) | {"guild_id": str(self.id)}
        self.world.hub.in_guild(self, "GUILD_MEMBER_ADD", lambda _: body, Intents.GUILD_MEMBERS)

    def give(self, user: User, role: Role) -> None:
        """Give a member a role."""
        self.members[user.id].roles.append(role)
        self._changed(user)

    def take(self, user: User, role: Role) -> None:
        """Take a role from a member."""
        self.members[user.id].roles.remove(role)
        self._changed(user)

    def time_out(self, user: User, until: datetime | None) -> None:
        """Let a member only look on until then, or take part again."""
        self.members[user.id].timed_out_until = until
        self._changed(user)

    def _changed(self, user: User) -> None:
        body = payloads.member(self.members[user.id]) | {"guild_id": str(self.id)}
        self.world.hub.of_member(self, user, "GUILD_MEMBER_UPDATE", body)

    def leave(self, user: User) -> None:
        """Let someone go."""
        if isinstance(user, Bot):
            self.world.hub.to_bot(user, "GUILD_DELETE", lambda _: {"id": str(self.id)}, self)
        del self.members[user.id]
        body = {"guild_id": str(self.id), "user": payloads.user(user)}
        self.world.hub.in_guild(self, "GUILD_MEMBER_REMOVE", lambda _: body, Intents.GUILD_MEMBERS)

    def __repr__(self) -> str:
        return f"<Guild {self.name}>"
