"""Stickers of a guild (reference, "Sticker Resource"); the picture itself is not served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.sandbox.refusals.errors import Json, Refusal

if TYPE_CHECKING:
    from bot.sandbox.resources.channels import Place
    from bot.sandbox.resources.guilds import Guild

PNG = 1  # a sticker's format
OF_GUILD = 2  # a sticker's type
MOST_STICKERS = 3  # of one message


@dataclass(frozen=True)
class Sticker:
    """A sticker that members of its guild can send."""

    id: int
    name: str

    def item(self) -> Json:
        """Return the sticker as a message carries it."""
        return {"id": str(self.id), "name": self.name, "format_type": PNG}

    def payload(self, guild: Guild) -> Json:
        """Return the sticker as its guild lists it."""
        more = {"description": None, "tags": "", "type": OF_GUILD, "available": True}
        return self.item() | more | {"guild_id": str(guild.id)}


def chosen(place: Place, ids: list[int]) -> list[Sticker]:
    """Return the stickers with these ids; those of other guilds take Nitro, which nobody has."""
    known = {each.id: each for each in place.guild.stickers} if place.guild else {}
    if any(each not in known for each in ids):
        raise Refusal.INVALID_STICKER.error()
    return [known[each] for each in ids]
