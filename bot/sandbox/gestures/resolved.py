"""The users, roles, places and files that an interaction names, beside their ids."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.sandbox.posting.drafts import Upload
from bot.sandbox.posting.publishing import stored
from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources import interaction_payloads, message_payloads, payloads
from bot.sandbox.resources.channels import Place
from bot.sandbox.resources.guilds import Role
from bot.sandbox.resources.users import Bot, User


@dataclass
class Resolved:
    """Collects what is named; each method returns the id that travels as the value."""

    bot: Bot
    place: Place
    found: Json = field(default_factory=dict)

    def _add(self, kind: str, key: int, shown: Json) -> str:
        self.found.setdefault(kind, {})[str(key)] = shown
        return str(key)

    def user(self, value: User) -> str:
        """Name an account, and the member it is here."""
        member = interaction_payloads.member_for(self.place, value)
        if member:
            granted = str(int(self.place.permissions_for(value)))
            self._add("members", value.id, member | {"permissions": granted})
        return self._add("users", value.id, payloads.user(value))

    def channel(self, value: Place) -> str:
        """Name a channel or thread."""
        shown = interaction_payloads.channel_for(value, self.bot)
        return self._add("channels", value.id, shown)

    def role(self, value: Role) -> str:
        """Name a role."""
        return self._add("roles", value.id, payloads.role(value))

    def mentionable(self, value: User | Role) -> str:
        """Name an account or a role."""
        return self.user(value) if isinstance(value, User) else self.role(value)

    def attachment(self, value: tuple[str, bytes]) -> str:
        """Keep a file, and name it."""
        file = stored(self.place, Upload(*value))
        return self._add("attachments", file.id, message_payloads.file_payload(self.place, file))
