"""What a bot's first response to an interaction does (reference, "Interaction Callback Type")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bot.sandbox.components.modals import check_modal
from bot.sandbox.posting import edits, posts
from bot.sandbox.posting.drafts import Draft, ReplyTo, Upload, read_draft
from bot.sandbox.refusals.errors import Json
from bot.sandbox.refusals.forms import Form
from bot.sandbox.resources.interactions import Interaction, InteractionKind, Response
from bot.sandbox.resources.messages import Flags, Kind, Message
from bot.sandbox.resources.modals import Modal

MOST_CHOICES = 25
OF_COMPONENTS = {Response.DEFERRED_UPDATE, Response.UPDATE}
ALLOWED: dict[InteractionKind, set[Response]] = {
    InteractionKind.COMMAND: {
        Response.PONG,
        Response.MESSAGE,
        Response.DEFERRED,
        Response.MODAL,
    },
    InteractionKind.COMPONENT: {
        Response.PONG,
        Response.MESSAGE,
        Response.DEFERRED,
        Response.MODAL,
        *OF_COMPONENTS,
    },
    InteractionKind.AUTOCOMPLETE: {Response.PONG, Response.CHOICES},
    InteractionKind.MODAL: {
        Response.PONG,
        Response.MESSAGE,
        Response.DEFERRED,
        *OF_COMPONENTS,
    },
}


def respond(interaction: Interaction, body: Json, files: dict[int, Upload]) -> None:
    """Do what the response says; it counts as given only if nothing in it is refused.

    Raises:
        DiscordError: 50035 when the response is malformed or does not fit the interaction.
    """
    form = Form(body)
    allowed = {int(each) for each in ALLOWED[interaction.kind]}
    kind = form.choice("type", allowed, required=True)
    data = form.child("data") or Form({}, ("data",), form.mistakes)
    form.finish()
    response = Response(kind or 0)
    ACTIONS[response](interaction, data, files)
    interaction.response = response
    interaction.world.pulse.beat()


def _nothing(interaction: Interaction, data: Form, files: dict[int, Upload]) -> None:
    del interaction, data, files


def _message(interaction: Interaction, data: Form, files: dict[int, Upload]) -> None:
    draft = read_draft(data.body, files, path=("data",))
    interaction.original = say(interaction, draft)


def _deferred(interaction: Interaction, data: Form, files: dict[int, Upload]) -> None:
    del files
    flags = Flags(data.integer("flags", 0, (1 << 31) - 1) or 0) & Flags.EPHEMERAL
    data.finish()
    interaction.original = say(interaction, Draft(flags=flags | Flags.LOADING))


def _deferred_update(interaction: Interaction, data: Form, files: dict[int, Upload]) -> None:
    del files
    _clicked(interaction, data)


def _clicked(interaction: Interaction, data: Form) -> Message:
    """Return the message that was clicked, maybe by way of a form."""
    if interaction.message is None:
        data.wrong("INTERACTION_NO_MESSAGE", "There is no message to update.")
        data.finish()
        raise AssertionError("refused")
    return interaction.message


def _update(interaction: Interaction, data: Form, files: dict[int, Upload]) -> None:
    message = _clicked(interaction, data)
    draft = read_draft(data.body, files, path=("data",), already=message.flags)
    edits.edit(message, draft)


def _choices(interaction: Interaction, data: Form, files: dict[int, Upload]) -> None:
    del files
    found = []
    for choice in data.children("choices", most=MOST_CHOICES) or []:
        name = choice.text("name", 1, 100, required=True)
        value = choice.body.get("value")
        if isinstance(value, str):
            choice.length(value, 0, 100, "value")
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            choice.wrong("BASE_TYPE_REQUIRED", "This field is required", "value")
        else:
            found.append((name or "", value))
    data.finish()
    interaction.choices = found


def _modal(interaction: Interaction, data: Form, files: dict[int, Upload]) -> None:
    del files
    check_modal(data)
    data.finish()
    interaction.modal = Modal(interaction, data.body)


ACTIONS: dict[Response, Callable[[Interaction, Form, dict[int, Upload]], None]] = {
    Response.PONG: _nothing,
    Response.MESSAGE: _message,
    Response.DEFERRED: _deferred,
    Response.DEFERRED_UPDATE: _deferred_update,
    Response.UPDATE: _update,
    Response.CHOICES: _choices,
    Response.MODAL: _modal,
}


def say(interaction: Interaction, draft: Draft) -> Message:
    """Post a message of the bot as part of its answer."""
    command = interaction.kind is InteractionKind.COMMAND
    origin = posts.Origin(Kind.COMMAND if command else Kind.DEFAULT, interaction=interaction)
    source = interaction.message
    if source is not None:
        # An answer to a click refers to the message that was clicked.
        draft = replace(draft, reply_to=ReplyTo(source.id, fail_if_not_exists=False))
    return posts.post(interaction.place, interaction.bot, draft, origin)
