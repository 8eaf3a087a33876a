"""The buttons of approval cards and of the message being written; they work after a restart."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import discord
from discord import ui

from bot.agent import Actor
from bot.frontend.control import NOT_HERE, Control
from bot.frontend.interactions import acknowledged, answer, place_here
from bot.frontend.people import People

Item = ui.DynamicItem[ui.Button[Any]]


def buttons(control: Control, people: People) -> tuple[type[Item], ...]:
    """Return the classes of buttons, to be registered with the client.

    discord.py makes an item for each click from its class alone, so the classes are made here,
    around what they need.
    """

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
            assert isinstance(item, ui.Button)  # noqa: S101 - only buttons carry these ids
            return cls(item, match["name"])

        async def callback(self, interaction: discord.Interaction) -> None:
            if not await acknowledged(interaction):
                return
            place, actor = place_here(interaction), people.actor(interaction)
            said = await self.act(place.session_id, actor) if place else NOT_HERE
            if said not in self.done:  # what was done, the message itself shows
                await answer(interaction, said)

        async def act(self, session_id: str, actor: Actor) -> str:
            raise NotImplementedError

    class Approve(Pressed, template=r"approve:(?P<name>[\w-]{1,80})"):
        done = frozenset({"Approved."})

        async def act(self, session_id: str, actor: Actor) -> str:
            return await control.approve(session_id, self.name, actor)

    class Deny(Pressed, template=r"deny:(?P<name>[\w-]{1,80})"):
        done = frozenset({"Denied.", "Withdrawn."})

        async def act(self, session_id: str, actor: Actor) -> str:
            return await control.deny(session_id, self.name, actor)

    class Stop(Pressed, template=r"stop:(?P<name>[\w-]{1,60}):\w+:\d+"):
        done = frozenset({"Stopped."})

        async def act(self, session_id: str, actor: Actor) -> str:
            return await control.stop(session_id, actor, self.name)

    return Approve, Deny, Stop
