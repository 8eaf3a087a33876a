"""The buttons of a card, and those that More shows to one person; they work after a restart."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any, cast

import discord
from discord import ui

from bot.agent.history.visible import one_line
from bot.frontend.approvals.decisions import APPROVED, DENIED, WITHDRAWN, Asked, Scope
from bot.frontend.commands.buttons import HasControl, Pressed
from bot.frontend.commands.card_forms import edit_form, reason_form
from bot.frontend.commands.interactions import acknowledged, answer, place_here, tell_failure
from bot.frontend.control import NOT_HERE
from bot.frontend.ids import Place, PlaceKind, place_of
from bot.frontend.refusals import asked
from bot.frontend.view.shown import Button

OVER = "This request has been decided."
NOTHING_MORE = "There is nothing more that you may do with this request."
TOO_LONG = "The arguments are too long to be edited here."
SOON = 2.0  # seconds: what opens a form has to answer within three
FREE_ARGUMENTS = 8


async def asked_here(
    client: HasControl, approval_id: str, interaction: discord.Interaction
) -> Asked | None:
    """Return the request that a card's button is about, and who pressed it."""
    place = place_here(interaction)
    if place is None:
        return None
    actor = client.people.actor(interaction)
    return await client.decisions.asked(approval_id, place, interaction.guild_id, actor)


class OfCard(Pressed, template=r"(?!)"):
    """A button that is about a request, wherever its card is."""

    async def act(self, client: HasControl, place: Place, interaction: discord.Interaction) -> str:
        """Find the request and do it."""
        found = await asked_here(client, self.name, interaction)
        return NOT_HERE if found is None else await self.decide(client, found)

    async def decide(self, client: HasControl, found: Asked) -> str:
        """Do it; return what to say."""
        raise NotImplementedError


class Approve(OfCard, template=r"approve:(?P<name>[\w-]{1,80})"):
    """Approves the call that the card is about."""

    done = frozenset({APPROVED})

    async def decide(self, client: HasControl, found: Asked) -> str:
        """Approve it."""
        return await client.decisions.approve(found.session_id, self.name, found.actor)


class Deny(OfCard, template=r"deny:(?P<name>[\w-]{1,80})"):
    """Denies the call that the card is about, or takes the request back."""

    done = frozenset({DENIED, WITHDRAWN})

    async def decide(self, client: HasControl, found: Asked) -> str:
        """Deny it."""
        return await client.decisions.deny(found.session_id, self.name, found.actor)


class Withdraw(OfCard, template=r"withdraw:(?P<name>[\w-]{1,80})"):
    """Takes the request back."""

    done = frozenset[str]()

    async def decide(self, client: HasControl, found: Asked) -> str:
        """Withdraw it."""
        return await client.decisions.withdraw(found.session_id, self.name, found.actor)


class Always(OfCard, template=r"always:(?P<name>[\w-]{1,60}):(?P<where>here|server):(?P<free>\d*)"):
    """Approves the call, and those like it from now on."""

    done = frozenset[str]()
    scope: tuple[bool, str]

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction, item: ui.Item[Any], match: re.Match[str], /
    ) -> Always:
        """Make the button that was pressed; its id says what is to be allowed."""
        made = cls(cast("ui.Button[Any]", item), match["name"])
        made.scope = (match["where"] == "server", match["free"])
        return made

    async def decide(self, client: HasControl, found: Asked) -> str:
        """Allow it."""
        server, number = self.scope
        names = sorted(found.request.arguments)
        if number and int(number) >= len(names):
            return NOT_HERE
        scope = Scope(server=server, free=names[int(number)] if number else "")
        return await client.decisions.always(found, scope)


class More(OfCard, template=r"more:(?P<name>[\w-]{1,80})"):
    """Shows what else can be done, to who presses it."""

    done = frozenset[str]()

    async def _press(self, interaction: discord.Interaction, client: HasControl) -> None:
        found = await asked_here(client, self.name, interaction)
        if found is None or found.decided:
            await answer(interaction, NOT_HERE if found is None else OVER)
            return
        buttons = await _more(client, found)
        text = "What else you can do with this request:" if buttons else NOTHING_MORE
        await answer(interaction, text, buttons=buttons)


async def _more(client: HasControl, found: Asked) -> Sequence[Button]:
    name = found.request.approval_id
    may_decide = await client.decisions.may_decide(found)
    buttons: list[Button] = []
    if may_decide:
        buttons += [
            Button("Deny with a reason…", f"reason:{name}", "danger"),
            Button("Edit…", f"edit:{name}"),
        ]
    if found.actor.user_id == found.request.requested_by:
        buttons.append(Button("Withdraw", f"withdraw:{name}"))
    if await client.decisions.may_allow_always(found):
        buttons += _always(found)
    return buttons


def _always(found: Asked) -> list[Button]:
    """Return the buttons that allow it from now on; each says for what exactly."""
    place = place_of(found.session_id)
    here = "in this thread" if place and place.kind is PlaceKind.THREAD else "here"
    name, exactly = found.request.approval_id, "with exactly these arguments"
    buttons = [
        Button(f"Always {here} {exactly}", f"always:{name}:here:"),
        Button(f"Always in this server {exactly}", f"always:{name}:server:"),
    ]
    for number, argument in enumerate(sorted(found.request.arguments)[:FREE_ARGUMENTS]):
        label = f"Always {here}, whatever “{one_line(argument, 30)}” is"
        buttons.append(Button(label, f"always:{name}:here:{number}"))
    return buttons


class Opens(OfCard, template=r"(?!)"):
    """Opens a form, which has to be the first answer: only what is at hand is looked at before."""

    done = frozenset[str]()

    async def callback(self, interaction: discord.Interaction) -> None:
        """Open it, or say why not."""
        client = cast(HasControl, interaction.client)
        try:
            async with asyncio.timeout(SOON):
                form = await self.form(client, interaction)
            if isinstance(form, str):
                if await acknowledged(interaction):
                    await answer(interaction, form)
                return
            form.stop()  # it is answered by its id, also after a restart
            await asked(lambda: interaction.response.send_modal(form))
        except Exception as exc:  # noqa: BLE001 - whatever it is, it is logged and told
            await tell_failure(interaction, exc)

    async def form(self, client: HasControl, interaction: discord.Interaction) -> ui.Modal | str:
        """Return the form, or what to say in its place."""
        raise NotImplementedError


class Reason(Opens, template=r"reason:(?P<name>[\w-]{1,80})"):
    """Opens the form for a denial with a reason."""

    async def form(self, client: HasControl, interaction: discord.Interaction) -> ui.Modal | str:
        """Return it; nothing has to be looked at."""
        return reason_form(self.name)


class Edit(Opens, template=r"edit:(?P<name>[\w-]{1,80})"):
    """Opens the form in which the arguments can be changed."""

    async def form(self, client: HasControl, interaction: discord.Interaction) -> ui.Modal | str:
        """Return it with the arguments, which its card shows."""
        found = await asked_here(client, self.name, interaction)
        if found is None or found.decided:
            return NOT_HERE if found is None else OVER
        return edit_form(found.request) or TOO_LONG


class Instead(Pressed, template=r"instead:(?P<name>[\w-]{1,60}):[\w-]+"):
    """Ends the turn that waits, so that what was said behind it is answered now."""

    done = frozenset({"Stopped."})

    async def act(self, client: HasControl, place: Place, interaction: discord.Interaction) -> str:
        """End it, if it is theirs."""
        actor = client.people.actor(interaction)
        return await client.control.stop(place.session_id, actor, self.name)


CARD_BUTTONS = (Approve, Deny, Withdraw, Always, More, Reason, Edit, Instead)
