"""The slash commands that decide requests; their answers are private."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial

import discord
from discord import app_commands

from bot.agent import Actor
from bot.events import ApprovalRequestedEvent
from bot.frontend.approvals.decisions import Decisions
from bot.frontend.commands.interactions import answer, place_here, session_here
from bot.frontend.people import People
from bot.frontend.text import one_line

CHOICES = 25  # Discord shows no more
_WHICH = "Please choose one of the requests that wait here."
_WHICH_ONE = "Which one; may be left out if only one waits"
Request = app_commands.Range[str, 1, 100]
Act = Callable[[str, str, Actor], Awaitable[str]]
Words = app_commands.Range[str, 1, 500]


def add_decisions(
    tree: app_commands.CommandTree[discord.Client], decisions: Decisions, people: People
) -> None:
    """Add /approve and /deny to a tree."""

    async def complete(
        interaction: discord.Interaction, current: str
    ) -> list[app_commands.Choice[str]]:
        place = place_here(interaction)
        actor = people.actor(interaction)
        waiting = await decisions.open_to(place.session_id, actor) if place else ()
        choices = ((_label(request), request.approval_id) for request in waiting)
        found = [each for each in choices if current.lower() in each[0].lower()]
        return [app_commands.Choice(name=name, value=value) for name, value in found[:CHOICES]]

    async def decide(interaction: discord.Interaction, request: str | None, act: Act) -> None:
        session_id = await session_here(interaction)
        if session_id is not None:
            named = await _named(decisions, session_id, request)
            actor = people.actor(interaction)
            said = _WHICH if named is None else await act(session_id, named, actor)
            await answer(interaction, said)

    @tree.command()
    @app_commands.describe(request=_WHICH_ONE, note="A note that the card will show")
    @app_commands.autocomplete(request=complete)
    async def approve(
        interaction: discord.Interaction, request: Request | None = None, note: Words | None = None
    ) -> None:
        """Let a tool call that waits here run."""
        await decide(interaction, request, partial(decisions.approve, note=note or ""))

    @tree.command()
    @app_commands.describe(request=_WHICH_ONE, reason="Why, for the model and for the card")
    @app_commands.autocomplete(request=complete)
    async def deny(
        interaction: discord.Interaction,
        request: Request | None = None,
        reason: Words | None = None,
    ) -> None:
        """Refuse a tool call that waits here."""
        await decide(interaction, request, partial(decisions.deny, reason=reason or ""))


async def _named(decisions: Decisions, session_id: str, request: str | None) -> str | None:
    """Return the approval that is meant: the one chosen, or the only one there is."""
    if request is not None:
        return request
    waiting = await decisions.pending(session_id)
    return waiting[0].approval_id if len(waiting) == 1 else None


def _label(request: ApprovalRequestedEvent) -> str:
    arguments = json.dumps(dict(request.arguments), ensure_ascii=False, default=str)
    return one_line(f"{request.tool} {arguments}", 100)
