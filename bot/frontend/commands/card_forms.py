"""The forms that a card opens, and what becomes of them when they are sent off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import discord
from discord import ui

from bot.agent.history.visible import visible_json
from bot.events import ApprovalRequestedEvent
from bot.frontend.commands.buttons import HasControl
from bot.frontend.commands.interactions import acknowledged, answer, place_here, tell_failure
from bot.frontend.control import NOT_HERE
from bot.frontend.text import plain

LONGEST = 4000
"""Characters of a text input (reference, "Text Input")."""
_FORM = re.compile(r"(?P<kind>reason|edit):(?P<name>[\w-]{1,80})")


def reason_form(approval_id: str) -> ui.Modal:
    """Return the form that asks why a call is denied."""
    form = ui.Modal(title="Deny this call", custom_id=f"reason:{approval_id}", timeout=None)
    form.add_item(
        ui.TextInput(
            label="Why? The model is told it",
            custom_id="reason",
            style=discord.TextStyle.paragraph,
            max_length=500,
        )
    )
    return form


def edit_form(request: ApprovalRequestedEvent) -> ui.Modal | None:
    """Return the form that has the arguments of a call, `None` if it cannot hold them."""
    text = visible_json(dict(request.arguments))
    if len(text) > LONGEST:
        return None
    form = ui.Modal(
        title="Approve with other arguments",
        custom_id=f"edit:{request.approval_id}",
        timeout=None,
    )
    form.add_item(
        ui.TextInput(
            label="The arguments, as JSON",
            custom_id="arguments",
            style=discord.TextStyle.paragraph,
            default=text,
            max_length=LONGEST,
        )
    )
    return form


async def sent_off(interaction: discord.Interaction) -> None:
    """Do what a form says that a card opened; others are not ours."""
    data = cast("Mapping[str, Any]", interaction.data or {})
    found = _FORM.fullmatch(str(data.get("custom_id", "")))
    if found is None or not await acknowledged(interaction):
        return
    try:
        said = await _done(interaction, found["kind"], found["name"], dict(_values(data)))
    except Exception as exc:  # noqa: BLE001 - whatever it is, it is logged and told
        await tell_failure(interaction, exc)
    else:
        await answer(interaction, said)


async def _done(
    interaction: discord.Interaction, kind: str, approval_id: str, values: Mapping[str, str]
) -> str:
    client, place = cast(HasControl, interaction.client), place_here(interaction)
    if place is None:
        return NOT_HERE
    decisions, actor = client.decisions, client.people.actor(interaction)
    asked = await decisions.asked(approval_id, place, interaction.guild_id, actor)
    if asked is None:
        return NOT_HERE
    if kind == "reason":
        reason = values.get("reason", "").strip()
        return await decisions.deny(asked.session_id, approval_id, asked.actor, reason)
    try:
        arguments = json.loads(values.get("arguments", ""))
    except (ValueError, RecursionError) as exc:
        return f"Nothing was decided: that is not JSON ({plain(str(exc))})."
    if not isinstance(arguments, dict):
        return "Nothing was decided: the arguments are a JSON object, in braces."
    edited = None if arguments == dict(asked.request.arguments) else arguments
    return await decisions.approve(asked.session_id, approval_id, asked.actor, arguments=edited)


def _values(part: Any) -> Iterator[tuple[str, str]]:
    """Give what was written into each text input, wherever it is in the form."""
    if isinstance(part, list):
        for each in part:
            yield from _values(each)
    elif isinstance(part, dict):
        if "value" in part and "custom_id" in part:
            yield part["custom_id"], str(part["value"])
        for key in ("components", "component"):
            yield from _values(part.get(key))
