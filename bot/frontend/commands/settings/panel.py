"""The panel of /settings: menus and buttons that say by their ids what they are about.

So it works after a restart, and for as long as it is on somebody's screen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import discord
from discord import ui

from bot.frontend.commands.interactions import owned, tell_failure
from bot.frontend.commands.settings.topics import (
    OF_SERVERS,
    TITLES,
    Menu,
    Topic,
    overview,
    source_of,
)
from bot.frontend.settings.effective import Effective
from bot.sessions.stores.settings import Scope

OPTIONS = 25  # of a menu; Discord takes no more
MENU, SCOPE, HISTORY, PAGE, DEFAULT = "menu", "scope", "history", "page", "default"


@dataclass(frozen=True, slots=True)
class Address:
    """What a menu or a button is about.

    Attributes:
        what: What it does.
        topic: The topic, if it is about one.
        channel: The channel whose settings are shown, 0 for the server's.
        origin: The channel in which the panel is.
    """

    what: str
    channel: int
    origin: int
    topic: str = "all"
    page: int = 0

    def __str__(self) -> str:
        parts = (self.what, self.topic, self.channel, self.origin, self.page)
        return ":".join(("settings", *map(str, parts)))


@dataclass(frozen=True, slots=True)
class Shown:
    """A panel to show."""

    text: str
    view: ui.View


class Desk(Protocol):
    """What does what is asked for in a panel."""

    async def pressed(
        self, interaction: discord.Interaction, address: Address, values: Sequence[str]
    ) -> None:
        """Do it, and show what holds then."""
        ...


class HasDesk(Protocol):
    """The client, as far as the panel needs it."""

    settings_desk: Desk


class PanelItem(
    ui.DynamicItem[ui.Item[Any]],
    template=r"settings:(?P<what>[a-z]+):(?P<topic>[a-z_]+):"
    r"(?P<channel>\d{1,20}):(?P<origin>\d{1,20}):(?P<page>\d{1,3})",
):
    """A menu or a button of a panel."""

    def __init__(self, item: ui.Item[Any], address: Address) -> None:
        super().__init__(item)
        self.address = address

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction, item: ui.Item[Any], match: re.Match[str], /
    ) -> PanelItem:
        """Make the one that was used; its id says what it is about."""
        channel, origin, page = (int(match[name]) for name in ("channel", "origin", "page"))
        return cls(item, Address(match["what"], channel, origin, match["topic"], page))

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Return whether it may be acted on."""
        return owned(interaction)

    async def callback(self, interaction: discord.Interaction) -> None:
        """Do what it is for."""
        data = cast("dict[str, Any]", interaction.data or {})
        try:
            desk = cast(HasDesk, interaction.client).settings_desk
            await desk.pressed(interaction, self.address, data.get("values", []))
        except Exception as exc:  # noqa: BLE001 - whatever it is, it is logged and told
            await tell_failure(interaction, exc)


def main(here: Effective, scope: Scope, origin: int, note: str = "") -> Shown:
    """Return the panel with all that holds."""
    at = scope.channel_id
    choices = [
        discord.SelectOption(label=TITLES[topic], value=topic, description=source_of(here, topic))
        for topic in Topic
        if topic not in OF_SERVERS or not at
    ]
    view = _view(
        _select(Address(MENU, at, origin), choices, "What to change"),
        _button("This server", Address(SCOPE, 0, origin), here=not at),
        _button("This channel", Address(SCOPE, origin, origin, "channel"), here=bool(at)),
        _button("History", Address(HISTORY, at, origin)),
    )
    return Shown("\n\n".join(filter(None, [note, overview(here, scope)])), view)


def page(text: str, scope: Scope, origin: int) -> Shown:
    """Return a text with a way back."""
    return Shown(text, _view(_back(scope.channel_id, origin)))


def choosing(topic: Topic, menu: Menu, scope: Scope, origin: int, number: int) -> Shown:
    """Return the panel in which somebody chooses from a list, of which it shows one page."""
    at, values = scope.channel_id, page_of(menu, number)
    choices = [
        discord.SelectOption(
            label=menu.choices[value][:100], value=value[:100], default=value in menu.chosen
        )
        for value in values
    ]
    items = [
        _button("Back to the default", Address(DEFAULT, at, origin, topic)),
        _back(at, origin),
    ]
    if len(menu.choices) > OPTIONS:
        after = number + 1 if page_of(menu, number + 1) else 0
        items.append(_button("More", Address(PAGE, at, origin, topic, after)))
    if choices:
        many = len(choices) if menu.many else 1
        address = Address("choose", at, origin, topic, number)
        items.insert(0, _select(address, choices, TITLES[topic], least=not menu.many, most=many))
    return Shown(f"**{TITLES[topic]}**", _view(*items))


def page_of(menu: Menu, number: int) -> Sequence[str]:
    """Return the values on a page of a menu."""
    return list(menu.choices)[number * OPTIONS : (number + 1) * OPTIONS]


def choosing_roles(scope: Scope, origin: int) -> Shown:
    """Return the panel in which somebody chooses roles."""
    menu: ui.RoleSelect[Any] = ui.RoleSelect(
        custom_id=str(Address("choose", scope.channel_id, origin, Topic.ROLES)),
        placeholder="Only people with one of these roles",
        min_values=1,
        max_values=OPTIONS,
    )
    return _choosing(Topic.ROLES, menu, scope, origin)


def choosing_channel(scope: Scope, origin: int) -> Shown:
    """Return the panel in which somebody chooses the channel for requests."""
    menu: ui.ChannelSelect[Any] = ui.ChannelSelect(
        custom_id=str(Address("choose", scope.channel_id, origin, Topic.APPROVALS)),
        placeholder="A channel that approvers read",
        channel_types=[discord.ChannelType.text],
    )
    return _choosing(Topic.APPROVALS, menu, scope, origin)


def _choosing(topic: Topic, menu: ui.Item[Any], scope: Scope, origin: int) -> Shown:
    at = scope.channel_id
    reset = _button("Back to the default", Address(DEFAULT, at, origin, topic))
    return Shown(f"**{TITLES[topic]}**", _view(menu, reset, _back(at, origin)))


def _select(
    address: Address,
    choices: list[discord.SelectOption],
    placeholder: str,
    least: int = 1,
    most: int = 1,
) -> ui.Item[Any]:
    return ui.Select(
        custom_id=str(address),
        options=choices,
        placeholder=placeholder,
        min_values=int(least),
        max_values=most,
    )


def _button(label: str, address: Address, *, here: bool = False) -> ui.Item[Any]:
    return ui.Button(label=label, custom_id=str(address), disabled=here)


def _back(channel: int, origin: int) -> ui.Item[Any]:
    return _button("Back", Address(SCOPE, channel, origin, "back"))


def _view(*items: ui.Item[Any]) -> ui.View:
    view = ui.View(timeout=None)
    for item in items:
        view.add_item(item)
    view.stop()  # not kept by the client: `PanelItem` hears of its items
    return view
