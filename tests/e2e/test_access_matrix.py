"""Who may do what with a conversation: every command and button, and everybody, as one table.

The author asked for something that waits for a decision; the participant wrote behind that; the
reader sees the channel, and may talk; the stranger sees it, and may not talk to the bot; the other
one is in another server, where the bot is too, and knows the ids. The moderator is no participant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from bot.frontend.approvals.lists import NOTHING_WAITS
from bot.frontend.approvals.policies import NO_GRANT, NO_TOOL
from bot.frontend.commands.lists import NOTHING_DONE
from bot.frontend.commands.own import EMPTY
from bot.frontend.commands.settings.command import NO_PERSONAS
from bot.frontend.commands.settings.desk import NOT_A_MANAGER
from bot.frontend.commands.usage import NOT_A_MANAGER as NOT_OTHERS
from bot.frontend.control import (
    NO_CONVERSATION,
    NOT_HERE,
    NOT_YOU,
    NOT_YOURS,
    NOTHING_TO_STOP,
)
from bot.frontend.own.forgetting import NOT_ALL, NOTHING
from bot.frontend.own.listing import NOTHING as NONE_LISTED
from bot.frontend.schedules.scheduling import NONE as NO_REMINDERS
from bot.frontend.schedules.scheduling import NOT_THERE
from bot.sandbox import Message, Person, Place
from bot.sandbox.answers.answers import first_response
from bot.sandbox.gestures.gestures import click
from bot.sessions.stores.sql_memories import memories_in
from tests.e2e.stage import Stage

EVERYBODY = ("elsewhere", "stranger", "reader", "participant", "author", "moderator")
NOT_DECIDE = "You may not decide"
NOT_STOP = "Only who asked, or a moderator, may stop this."
SAW_FILE = "This conversation, as far as I know it."
ASKS = "Shall I forget"
NO_NOTES = "I remember nothing about you."
NO_NOTE = "There is no such note of yours."
MEMORY_ON = "Memory is on."
KEPT = "I will remind you"
OPENS = "a form"
HIDDEN = None  # cannot even be tried: Discord does not show it

SHOWN = ("Approved", "Withdrawn", "undid the reset", "Other.")

Row = Sequence[str | None]

COMMANDS: Mapping[str, Row] = {
    "/approve request=REQUEST": (
        NOT_HERE,
        NOT_DECIDE,
        NOT_DECIDE,
        NOT_DECIDE,
        NOT_DECIDE,
        "Approved.",
    ),
    "/deny request=REQUEST": (
        NOT_HERE,
        NOT_DECIDE,
        NOT_DECIDE,
        NOT_DECIDE,
        "Withdrawn.",
        "Too late",
    ),
    "/stop": (NOTHING_TO_STOP, NOT_STOP, NOT_STOP, NOT_STOP, "Stopped.", "Stopped."),
    "/reset": (NO_CONVERSATION, NOT_YOU, *["I have forgotten"] * 4),
    "/compact": (NO_CONVERSATION, NOT_YOU, *["There is nothing to summarise"] * 4),
    "/sessions": (NONE_LISTED, NONE_LISTED, NONE_LISTED, "https://", "https://", NONE_LISTED),
    "/export": (EMPTY, *[SAW_FILE] * 5),
    "/forget what=mine": (NOTHING, NOTHING, NOTHING, ASKS, ASKS, NOTHING),
    "/forget what=here": (NOTHING, NOT_ALL, NOT_ALL, NOT_ALL, NOT_ALL, ASKS),
    "/forget what=everything": (ASKS,) * 6,
    "/usage": ("Today",) * 6,
    "/usage view=people": ("0 tokens in 0 calls", *[NOT_OTHERS] * 4, "alice"),
    "/usage view=days": ("0 tokens in 0 calls", *[NOT_OTHERS] * 4, "1 call"),
    "/memory": (*[NO_NOTES] * 4, "likes figs", NO_NOTES),
    "/memory turn=on": (MEMORY_ON, NOT_YOU, *[MEMORY_ON] * 4),
    "/memory remove=NOTE": (*[NO_NOTE] * 4, "Forgotten", NO_NOTE),
    "/remind when=tomorrow_9:00 text=x": (KEPT, NOT_YOU, *[KEPT] * 4),
    "/reminders": (*[NO_REMINDERS] * 4, "water figs", NO_REMINDERS),
    "/reminders cancel=REMINDER": (*[NOT_THERE] * 4, "Cancelled.", NOT_THERE),
    "/timezone zone=Europe/Paris": ("Europe/Paris now",) * 6,
    "/settings": ("What holds", *[NOT_A_MANAGER] * 4, "What holds"),
    "/persona list": (NO_PERSONAS, *["Ahoy"] * 5),
    "/persona use name=pirate": (NO_PERSONAS, *[NOT_A_MANAGER] * 4, "I am `pirate`"),
    "/persona add name=me": (OPENS, *[NOT_A_MANAGER] * 4, OPENS),
    "/persona remove name=pirate": ("no persona", *[NOT_A_MANAGER] * 4, "Removed."),
    "/policy show": ("`delete_file` asks", *[HIDDEN] * 4, "`delete_file` asks"),
    "/policy set tool=delete_file mode=never": ("off; set here", *[HIDDEN] * 4, "off; set here"),
    "/policy unset tool=none": (NO_TOOL, *[HIDDEN] * 4, NO_TOOL),
    "/policy revoke allowed=grant-1": (NO_GRANT, *[HIDDEN] * 4, NO_GRANT),
    "/approvals": (NOTHING_WAITS, *["`delete_file` in"] * 5),
    "/audit": (NOTHING_DONE, *[HIDDEN] * 4, "delete_file"),
    "/audit server=True": (NOTHING_DONE, *[HIDDEN] * 4, "delete_file"),
}

COMPLETED: Mapping[str, Sequence[int]] = {
    "/approve request": (0, 0, 0, 0, 1, 1),
    "/deny request": (0, 0, 0, 0, 1, 1),
    "/memory remove": (0, 0, 0, 0, 2, 0),
    "/reminders cancel": (0, 0, 0, 0, 1, 0),
    "/persona use name": (0, 1, 1, 1, 1, 1),
}
"""How many choices each is offered; of what waits, only what they may decide or take back."""

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


READING = (
    "/sessions",
    "/export",
    "/forget what=mine",
    "/forget what=here",
    "/forget what=everything",
    "/usage",
    "/usage view=people",
    "/usage view=days",
    "/memory",
    "/reminders",
    "/settings",
    "/persona list",
    "/persona add name=me",
    "/policy show",
    "/policy unset tool=none",
    "/policy revoke allowed=grant-1",
    "/approvals",
    "/audit",
    "/audit server=True",
)
"""Those that change nothing, or nothing yet."""


CHANGING = [(each,) for each in COMMANDS if each not in READING]


@pytest.mark.parametrize("commands", [READING, *CHANGING], ids=lambda each: each[0])
async def test_commands(stage: Stage, commands: Sequence[str]) -> None:
    cast = Cast(stage)
    async with stage.running():
        names = await _everything_asked(cast)
        stage.model.says("Done.").then("Hello Bob.")
        for command in commands:
            for name, text in zip(EVERYBODY, COMMANDS[command], strict=True):
                if command == "/stop" and name == "moderator":
                    continue  # nothing is left: the author's stop let the rest be answered
                if text == "Too late":
                    continue
                await _ran_by(cast, name, command, names, text)


async def test_completions(stage: Stage) -> None:
    cast = Cast(stage)
    async with stage.running():
        await _everything_asked(cast)
        for option, counts in COMPLETED.items():
            command, _, what = option.rpartition(" ")
            for name, count in zip(EVERYBODY, counts, strict=True):
                person, place = cast.people[name], cast.place(name)
                found = await person.completes(command, in_=place, option=what)
                assert len(found) == count, (option, name)


async def _everything_asked(cast: Cast) -> Mapping[str, str]:
    """Let there be something of the author's of each kind; return the names that it has."""
    stage, alice = cast.stage, cast.stage.alice
    stage.model.says(calls=[("delete_file", {"path": "x"})])
    await alice.says("delete x", in_=stage.desk)
    card = await stage.says(stage.desk, "May I run")
    await stage.bob.says("and I?", in_=stage.desk)
    await stage.says(stage.desk, "This waits for a decision")
    note = await memories_in(stage.store.database).remember(f"user-{alice.id}", "likes figs")
    await alice.runs("/remind", in_=stage.desk, when="tomorrow 9:00", text="water figs")
    [(_, reminder)] = await alice.completes("/reminders", in_=stage.desk, option="cancel")
    file = ("pirate.txt", b"Ahoy!")
    await stage.mod.runs("/persona add", in_=stage.desk, name="pirate", file=file)
    request = card.buttons[0]["custom_id"].partition(":")[2]
    return {"NOTE": note.memory_id, "REMINDER": str(reminder), "REQUEST": request}


async def _ran_by(
    cast: Cast, name: str, command: str, names: Mapping[str, str], text: str | None
) -> None:
    words = command.split(" ")
    path = " ".join(word for word in words if "=" not in word)
    options = {key: _value(value, names) for key, _, value in map(_halves, words) if value}
    person, place = cast.people[name], cast.place(name)
    if text is HIDDEN:
        with pytest.raises(PermissionError):
            await person.runs(path, in_=place, **options)
        return
    answer = await person.runs(path, in_=place, **options)
    if text == OPENS:
        assert answer.modal is not None, (command, name)
        return
    assert answer.ephemeral, (command, name)
    assert text in answer.text, (command, name)


def _halves(word: str) -> tuple[str, str, str]:
    return word.partition("=")


def _value(written: str, names: Mapping[str, str]) -> str | bool:
    return True if written == "True" else names.get(written, written.replace("_9", " 9"))


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
