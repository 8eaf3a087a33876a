"""The buttons of approval cards and of the message being written; they work after a restart."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Protocol, cast

import discord
from discord import ui

from bot.agent import Actor
from bot.frontend.control import NOT_HERE, Control
from bot.frontend.interactions import acknowledged, answer, place_here, tell_failure
from bot.frontend.people import People


class HasControl(Protocol):
    """The client, as far as buttons need it: discord.py makes them anew for each click."""

    control: Control
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

    async def callback(self, interaction: discord.Interaction) -> None:
        """Do what the button is for."""
        if await acknowledged(interaction):
            try:
                await self._press(interaction, cast(HasControl, interaction.client))
            except Exception as exc:  # noqa: BLE001 - whatever it is, it is logged and told
                await tell_failure(interaction, exc)

    async def _press(self, interaction: discord.Interaction, client: HasControl) -> None:
        place, actor = place_here(interaction), client.people.actor(interaction)
        said = NOT_HERE
        if place is not None:
            said = await self.act(client.control, place.session_id, actor)
        if said not in self.done:  # what was done, the message itself shows
            await answer(interaction, said)

    async def act(self, control: Control, session_id: str, actor: Actor) -> str:
        """Do it; return what to say."""
        raise NotImplementedError


class Approve(Pressed, template=r"approve:(?P<name>[\w-]{1,80})"):
    """Approves the call that the card is about."""

    done = frozenset({"Approved."})

    async def act(self, control: Control, session_id: str, actor: Actor) -> str:
        """Approve it."""
        return await control.approve(session_id, self.name, actor)


class Deny(Pressed, template=r"deny:(?P<name>[\w-]{1,80})"):
    """Denies the call that the card is about, or takes the request back."""

    done = frozenset({"Denied.", "Withdrawn."})

    async def act(self, control: Control, session_id: str, actor: Actor) -> str:
        """Deny it."""
        return await control.deny(session_id, self.name, actor)


class Stop(Pressed, template=r"stop:(?P<name>[\w-]{1,60}):\w+:\d+"):
    """Stops the turn whose answer is being written."""

    done = frozenset({"Stopped."})

    async def act(self, control: Control, session_id: str, actor: Actor) -> str:
        """Stop it."""
        return await control.stop(session_id, actor, self.name)
