"""The button under a quiet line: it undoes what a tool did without asking, for whose it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, cast

import discord

from bot.frontend.commands.buttons import HasControl, Pressed
from bot.frontend.ids import Place, user_id_of
from bot.frontend.refusals import DiscordError, asked
from bot.frontend.showing.outbox import NOBODY

Undoing = Mapping[str, Callable[[str, str], Awaitable[str]]]
"""By the first word of a name, what undoes it for a user; nothing is said if it is not theirs."""

NOT_YOURS = "Only whose it is can undo that, and only while it is there."
UNDONE = "-# Undone."


class CanUndo(Protocol):
    """The client, as far as this button needs it."""

    undoing: Undoing


class TakeBack(Pressed, template=r"back:(?P<name>[\w-]{1,80})"):
    """Undoes what the line tells."""

    done = frozenset({UNDONE})

    async def act(self, client: HasControl, place: Place, interaction: discord.Interaction) -> str:
        """Undo it, and take the line back."""
        kind = self.name.partition("-")[0]
        undo = cast(CanUndo, client).undoing.get(kind)
        said = await undo(user_id_of(interaction.user.id), self.name) if undo else ""
        if said and await _taken_back(interaction.message):
            return UNDONE
        return said or NOT_YOURS


async def _taken_back(message: discord.Message | None) -> bool:
    """Let the line tell no more; return whether it does not."""
    if message is None:
        return False
    try:
        await asked(lambda: message.edit(content=UNDONE, view=None, allowed_mentions=NOBODY))
    except DiscordError:
        return False
    return True
