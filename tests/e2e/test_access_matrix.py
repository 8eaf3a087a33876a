"""Who may do what with a conversation: every command and button, and everybody, as one table.

The author asked for something that waits for a decision; the participant wrote behind that; the
reader sees the channel, and may talk; the stranger sees it, and may not talk to the bot; the other
one is in another server, where the bot is too, and knows the ids. The moderator is no participant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from bot.frontend.control import (
    NO_CONVERSATION,
    NOT_HERE,
    NOT_YOU,
    NOT_YOURS,
    NOTHING_TO_STOP,
)
from bot.frontend.own.commands import EMPTY
from bot.frontend.own.forgetting import NOT_ALL, NOTHING
from bot.frontend.own.listing import NOTHING as NONE_LISTED
from bot.sandbox import Message, Person, Place
from bot.sandbox.answers import first_response
from bot.sandbox.gestures import click
from tests.e2e.stage import Stage

EVERYBODY = ("elsewhere", "stranger", "reader", "participant", "author", "moderator")
NOT_DECIDE = "You may not decide"
NOT_STOP = "Only who asked, or a moderator, may stop this."
SAW_FILE = "This conversation, as far as I know it."
ASKS = "Shall I forget"
HIDDEN = None  # cannot even be tried: Discord does not show it

SHOWN = ("Approved", "Withdrawn", "undid the reset", "Other.")

Row = Sequence[str | None]

COMMANDS: Mapping[str, Row] = {
    "/approve": (NOT_HERE, NOT_DECIDE, NOT_DECIDE, NOT_DECIDE, NOT_DECIDE, "Approved."),
    "/deny": (NOT_HERE, NOT_DECIDE, NOT_DECIDE, NOT_DECIDE, "Withdrawn.", "Too late"),
    "/stop": (NOTHING_TO_STOP, NOT_STOP, NOT_STOP, NOT_STOP, "Stopped.", "Stopped."),
    "/reset": (NO_CONVERSATION, NOT_YOU, *["I have forgotten"] * 4),
    "/compact": (NO_CONVERSATION, NOT_YOU, *["There is nothing to summarise"] * 4),
    "/sessions": (NONE_LISTED, NONE_LISTED, NONE_LISTED, "https://", "https://", NONE_LISTED),
    "/export": (EMPTY, *[SAW_FILE] * 5),
    "/forget mine": (NOTHING, NOTHING, NOTHING, ASKS, ASKS, NOTHING),
    "/forget here": (NOTHING, NOT_ALL, NOT_ALL, NOT_ALL, NOT_ALL, ASKS),
    "/forget everything": (ASKS,) * 6,
}

BUTTONS: Mapping[str, Row] = {
    "Approve": (HIDDEN, NOT_DECIDE, NOT_DECIDE, NOT_DECIDE, NOT_DECIDE, "Approved"),
    "Deny": (HIDDEN, NOT_DECIDE, NOT_DECIDE, NOT_DECIDE, "Withdrawn", HIDDEN),
    "Undo": (HIDDEN, NOT_YOU, "undid the reset", *["cannot be undone any more"] * 3),
    "Try again": (HIDDEN, NOT_YOU, NOT_YOURS, NOT_YOURS, "Other.", NOT_YOURS),
}


class Cast:
    """Everybody, and where each of them is."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        world = stage.world
        carol, dave, eve = (world.person(name) for name in ("carol", "dave", "eve"))
        stage.guild.join(carol)
        stage.guild.join(dave)
        self.away = world.guild("Away")
        self.hall = self.away.channel("hall")
        self.away.join(stage.bot)
        self.away.join(eve, permissions={"MANAGE_GUILD"})  # a moderator there is none here
        everybody = (eve, dave, carol, stage.bob, stage.alice, stage.mod)
        self.people = dict(zip(EVERYBODY, everybody, strict=True))
        may_talk = frozenset(each.id for each in everybody if each is not dave)
        stage.options = replace(stage.options, user_ids=may_talk)

    def place(self, name: str) -> Place:
        return self.hall if name == "elsewhere" else self.stage.desk


@pytest.mark.parametrize("command", COMMANDS)
async def test_commands(stage: Stage, command: str) -> None:
    cast, texts = Cast(stage), dict(zip(EVERYBODY, COMMANDS[command], strict=True))
    stage.model.says(calls=[("delete_file", {"path": "x"})])
    async with stage.running():
        await stage.alice.says("delete x", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        await stage.bob.says("and I?", in_=stage.desk)
        await stage.says(stage.desk, "This waits for a decision")
        stage.model.says("Done.").then("Hello Bob.")
        for name, text in texts.items():
            if command == "/stop" and name == "moderator":
                continue  # nothing is left: the author's stop let the rest be answered
            word, _, what = command.partition(" ")
            given = {"what": what} if what else {}
            if word in ("/approve", "/deny"):
                given = (
                    {"request": card.buttons[0]["custom_id"].partition(":")[2]}
                    if (card.buttons)
                    else given
                )
            answer = await cast.people[name].runs(word, in_=cast.place(name), **given)
            assert answer.ephemeral, name
            if text != "Too late":
                assert text is not None
                assert text in answer.text, name


@pytest.mark.parametrize("button", ["Approve", "Deny"])
async def test_buttons_of_cards(stage: Stage, button: str) -> None:
    cast = Cast(stage)
    stage.model.says(calls=[("delete_file", {"path": "x"})]).then("Done.")
    async with stage.running():
        await stage.alice.says("delete x", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        await _pressed_by_all(cast, card, button)


async def test_the_button_of_a_reset(stage: Stage) -> None:
    cast = Cast(stage)
    stage.model.says("Hello.")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Hello.")
        await stage.alice.runs("/reset", in_=stage.desk)
        notice = await stage.says(stage.desk, "began the conversation anew")
        await _pressed_by_all(cast, notice, "Undo")


async def test_the_button_of_an_answer(stage: Stage) -> None:
    cast = Cast(stage)
    stage.model.says("Hello.").then("Other.")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        answer = await stage.says(stage.desk, "Hello.")
        await _pressed_by_all(cast, answer, "Try again")


async def _pressed_by_all(cast: Cast, message: Message, button: str) -> None:
    for name, text in zip(EVERYBODY, BUTTONS[button], strict=True):
        if name == "elsewhere":
            assert not message.place.seen_by(cast.people[name])
        elif text in SHOWN:  # in the channel, and not to whoever pressed it
            await first_response(click(cast.people[name], message, button))
            await cast.stage.says(cast.stage.desk, text)
        elif text is not HIDDEN:
            answer = await cast.people[name].clicks(message, button)
            assert text in answer.text, name
            assert answer.ephemeral


async def test_a_button_that_forgets_is_about_whoever_presses_it(stage: Stage) -> None:
    stage.model.says("Hello.")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Hello.")
        asked = await stage.alice.runs("/forget", in_=stage.desk, what="mine")
        assert asked.message is not None
        assert not _is_shown(asked.message, stage.bob)
        assert len(await stage.log_of(f"channel-{stage.desk.id}")) == 2


def _is_shown(message: Message, person: Person) -> bool:
    try:
        click(person, message, "Forget")
    except Exception:  # noqa: BLE001 - whichever way the sandbox refuses it
        return False
    return True
