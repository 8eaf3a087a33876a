"""The buttons of answers, and what all buttons have in common; they work after a restart."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Protocol, cast

import discord
from discord import ui

from bot.events import Ask
from bot.frontend.approvals.decisions import Decisions
from bot.frontend.commands.interactions import (
    acknowledged,
    answer,
    channel_here,
    owned,
    place_here,
    tell_failure,
)
from bot.frontend.control import ASKED, NOT_HERE, NOT_YOU, UNDONE, Control
from bot.frontend.ids import Place
from bot.frontend.people import People, speaker


class HasControl(Protocol):
    """The client, as far as buttons need it: discord.py makes them anew for each click."""

    control: Control
    decisions: Decisions
    people: People


class Pressed(ui.DynamicItem[ui.Button[Any]], template=r"(?!)"):
    """A button that acts in the place where it is, and tells who pressed it if it did not."""

    done: ClassVar[frozenset[str]]

    def __init__(self, item: ui.Button[Any], name: str) -> None:
        super().__init__(item)
        self.name = name

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction, item: ui.Item[Any], match: re.Match[str], /
    ) -> Pressed:
        """Make the button that was pressed; its id says what it is about."""
        assert isinstance(item, ui.Button)  # noqa: S101 - only buttons carry these ids
        return cls(item, match["name"])

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Return whether it may be acted on."""
        return owned(interaction)

    async def callback(self, interaction: discord.Interaction) -> None:
        """Do what the button is for."""
        client = cast(HasControl, interaction.client)
        if await acknowledged(interaction):
            try:
                await self._press(interaction, client)
            except Exception as exc:  # noqa: BLE001 - whatever it is, it is logged and told
                await tell_failure(interaction, exc)

    async def _press(self, interaction: discord.Interaction, client: HasControl) -> None:
        place = place_here(interaction)
        said = NOT_HERE if place is None else await self.act(client, place, interaction)
        if said not in self.done:  # what was done, the message itself shows
            await answer(interaction, said)

    async def act(self, client: HasControl, place: Place, interaction: discord.Interaction) -> str:
        """Do it; return what to say."""
        raise NotImplementedError


class Stop(Pressed, template=r"stop:(?P<name>[\w-]{1,60}):\w+:\d+"):
    """Stops the turn whose answer is being written."""

    done = frozenset({"Stopped."})

    async def act(self, client: HasControl, place: Place, interaction: discord.Interaction) -> str:
        """Stop it."""
        actor = client.people.actor(interaction)
        return await client.control.stop(place.session_id, actor, self.name)


class Again(Pressed, template=r"(?!)"):
    """Asks about the turn whose answer, or failure, carries the button."""

    done = frozenset({ASKED})
    ask: ClassVar[Ask]

    async def act(self, client: HasControl, place: Place, interaction: discord.Interaction) -> str:
        """Ask, if it is somebody who may talk here."""
        user = interaction.user
        if not await client.people.may_talk(user, interaction.guild_id, channel_here(interaction)):
            return NOT_YOU
        by, at = speaker(user, place), interaction.created_at.timestamp()
        return await client.control.again(place.session_id, self.name, self.ask, by, at)


class TryAgain(Again, template=r"retry:(?P<name>[\w-]{1,80})"):
    """Asks for another answer."""

    ask = Ask.RETRY


class Continue(Again, template=r"continue:(?P<name>[\w-]{1,80})"):
    """Asks for the rest of an answer that was cut."""

    ask = Ask.CONTINUE


class Undo(Pressed, template=r"undo:(?P<name>[1-9][0-9]{0,15})"):
    """Takes the reset back whose notice carries the button."""

    done = frozenset({UNDONE})

    async def act(self, client: HasControl, place: Place, interaction: discord.Interaction) -> str:
        """Undo it, if it is somebody who may reset."""
        if not await client.people.may_talk(
            interaction.user, interaction.guild_id, channel_here(interaction)
        ):
            return NOT_YOU
        actor = client.people.actor(interaction)
        return await client.control.undo_reset(place.session_id, int(self.name), actor)


BUTTONS = (Stop, TryAgain, Continue, Undo)
