"""The slash commands. They never wait behind messages, and their answers are private."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial

import discord
from discord import app_commands

from bot.agent import Actor
from bot.events import ApprovalRequestedEvent
from bot.frontend.control import NOT_YOU, Control
from bot.frontend.interactions import acknowledged, answer, place_here
from bot.frontend.people import People
from bot.frontend.text import one_line

CHOICES = 25  # Discord shows no more
_WHICH = "Please choose one of the requests that wait here."
_WHICH_ONE = "Which one; may be left out if only one waits"
Request = app_commands.Range[str, 1, 100]
Act = Callable[[str, str, Actor], Awaitable[str]]
Whole = Callable[[str, Actor], Awaitable[str]]
Words = app_commands.Range[str, 1, 500]


def add_commands(
    tree: app_commands.CommandTree[discord.Client], control: Control, people: People
) -> None:
    """Add the commands to a tree."""
    _add_decisions(tree, control, people)
    _add_endings(tree, control, people)


def _add_decisions(
    tree: app_commands.CommandTree[discord.Client], control: Control, people: People
) -> None:
    async def complete(
        interaction: discord.Interaction, current: str
    ) -> list[app_commands.Choice[str]]:
        place = place_here(interaction)
        waiting = await control.pending(place.session_id) if place else ()
        choices = ((_label(request), request.approval_id) for request in waiting)
        found = [each for each in choices if current.lower() in each[0].lower()]
        return [app_commands.Choice(name=name, value=value) for name, value in found[:CHOICES]]

    async def decide(interaction: discord.Interaction, request: str | None, act: Act) -> None:
        session_id = await _session(interaction)
        if session_id is not None:
            named = await _named(control, session_id, request)
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
        await decide(interaction, request, partial(control.approve, note=note or ""))

    @tree.command()
    @app_commands.describe(request=_WHICH_ONE, reason="Why, for the model and for the card")
    @app_commands.autocomplete(request=complete)
    async def deny(
        interaction: discord.Interaction,
        request: Request | None = None,
        reason: Words | None = None,
    ) -> None:
        """Refuse a tool call that waits here."""
        await decide(interaction, request, partial(control.deny, reason=reason or ""))


def _add_endings(
    tree: app_commands.CommandTree[discord.Client], control: Control, people: People
) -> None:
    @tree.command()
    async def stop(interaction: discord.Interaction) -> None:
        """Stop the answer that is being written here."""
        session_id = await _session(interaction)
        if session_id is not None:
            await answer(interaction, await control.stop(session_id, people.actor(interaction)))

    async def whole(interaction: discord.Interaction, act: Whole) -> None:
        session_id = await _session(interaction)
        if session_id is None:
            return
        if not await people.may_talk(interaction.user, interaction.guild_id):
            await answer(interaction, NOT_YOU)
        else:
            await answer(interaction, await act(session_id, people.actor(interaction)))

    @tree.command()
    async def reset(interaction: discord.Interaction) -> None:
        """Begin this conversation anew."""
        await whole(interaction, control.reset)

    @tree.command()
    async def compact(interaction: discord.Interaction) -> None:
        """Summarise the earlier part of this conversation."""
        await whole(interaction, control.compact)


async def _session(interaction: discord.Interaction) -> str | None:
    """Acknowledge a command and return the session it is about."""
    place = place_here(interaction)
    if place is None or not await acknowledged(interaction):
        return None
    return place.session_id


async def _named(control: Control, session_id: str, request: str | None) -> str | None:
    """Return the approval that is meant: the one chosen, or the only one there is."""
    if request is not None:
        return request
    waiting = await control.pending(session_id)
    return waiting[0].approval_id if len(waiting) == 1 else None


def _label(request: ApprovalRequestedEvent) -> str:
    arguments = json.dumps(dict(request.arguments), ensure_ascii=False, default=str)
    return one_line(f"{request.tool} {arguments}", 100)
