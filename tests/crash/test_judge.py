"""The judge sees what is wrong: each fault that a kill could leave, put there by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.sandbox import Bot, Message, Person, Place, World
from bot.sandbox.posting.drafts import written
from bot.sandbox.posting.posts import post
from tests.crash.judge import Asked, Fate, judge
from tests.crash.mind import Plan

CARD = '**Approved by <@1>:** `burn`, asked for by <@2>.\n{}\n```json\n{{"line": "q1.0"}}\n```'
RAN, RUNS = CARD.format("It ran and ended well."), CARD.format("It runs now.")
GATED = Plan(calls=(("burn", "q1.0"),))
STOP = {"type": 2, "label": "Stop", "custom_id": "stop:x", "style": 2}


class Desk:
    """A place with a person and a bot in it."""

    def __init__(self, plan: Plan, *fates: Fate) -> None:
        world = World()
        guild = world.guild("Home")
        self.place: Place = guild.channel("desk")
        self.bot: Bot = world.bot("Parley")
        self.alice: Person = world.person("alice")
        guild.join(self.bot, permissions={"MENTION_EVERYONE"})
        guild.join(self.alice)
        self.question = post(self.place, self.alice, written("q1, please", (), {}, None))
        self.asked = Asked(
            token="q1",
            plan=plan,
            message=self.question,
            place=self.place,
            fates=frozenset(fates or (Fate.ANSWERED,)),
        )

    def says(self, text: str, files: Sequence[tuple[str, bytes]] = (), **fields: object) -> Message:
        quiet: dict[str, object] = {"allowed_mentions": {"parse": []}}
        draft = written(text, files, {**quiet, **fields}, self.question.id)
        return post(self.place, self.bot, draft)

    def wrong(self, *lines: str) -> str:
        return " | ".join(judge(self.place, self.bot, [self.asked], lines))


def test_one_complete_answer_is_right() -> None:
    desk = Desk(Plan())
    desk.says(Plan().answer("q1", 2))
    assert desk.wrong() == ""


@pytest.mark.parametrize(
    "texts",
    [
        (),
        ("About q1 for",),
        (Plan().answer("q1", 1), Plan().answer("q1", 1)),
        (Plan().answer("q1", 1), Plan().answer("q1", 2)),
        (Plan().answer("q1", 1), "Something went wrong. (reference 12)"),
        (Plan().answer("q1", 1), "Stopped."),
    ],
)
def test_no_answer_half_an_answer_or_two_are_wrong(texts: tuple[str, ...]) -> None:
    desk = Desk(Plan())
    for text in texts:
        desk.says(text)
    assert "q1 is not ANSWERED" in desk.wrong()


def test_an_answer_to_what_was_stopped_is_wrong() -> None:
    desk = Desk(Plan(), Fate.STOPPED)
    desk.says("Stopped.")
    assert desk.wrong() == ""
    desk.says(Plan().answer("q1", 1))
    desk.says("About q1")
    assert "q1 is not STOPPED" in desk.wrong()


def test_a_button_that_is_left_is_wrong() -> None:
    desk = Desk(Plan())
    desk.says(Plan().answer("q1", 1), components=[{"type": 1, "components": [STOP]}])
    assert "a button is left" in desk.wrong()


def test_what_nobody_asked_for_is_wrong() -> None:
    desk = Desk(Plan())
    desk.says(Plan().answer("q1", 1))
    desk.says(Plan().answer("q2", 1))
    assert "nobody asked for" in desk.wrong()


def test_a_ping_is_wrong() -> None:
    desk = Desk(Plan())
    desk.says(Plan().answer("q1", 1), allowed_mentions={"parse": ["everyone"]})
    assert "pings" in desk.wrong()


@pytest.mark.parametrize(
    ("cards", "lines", "expected"),
    [
        ((RAN,), ("q1.0",), ""),
        ((RAN,), ("q1.0", "q1.0"), "ran 2 times"),
        ((RAN,), (), "its card says that it did"),
        ((CARD.format("It did not run."),), ("q1.0",), "its card says that it did not"),
        ((RUNS,), ("q1.0",), "a card is not final"),
        ((RAN, RAN), ("q1.0",), "q1.0 has 2 cards"),
        ((), ("q1.0",), "q1.0 has 0 cards"),
    ],
)
def test_cards_and_lines_have_to_agree(
    cards: tuple[str, ...], lines: tuple[str, ...], expected: str
) -> None:
    desk = Desk(GATED)
    for card in cards:
        desk.says(card)
    desk.says(GATED.answer("q1", 1))
    found = desk.wrong(*lines)
    assert expected in found
    assert bool(found) == bool(expected)


@pytest.mark.parametrize(
    ("shown", "lines", "expected"),
    [
        (("q1.0.txt",), ("q1.0",), ""),
        ((), ("q1.0",), ""),
        (("q1.0.txt", "q1.0.txt"), ("q1.0",), "its file is shown 2 times"),
        (("q1.0.txt",), (), "its file is shown 1 times"),
    ],
)
def test_a_file_is_shown_once_and_only_if_it_was_made(
    shown: tuple[str, ...], lines: tuple[str, ...], expected: str
) -> None:
    plan = Plan(calls=(("draw", "q1.0"),))
    desk = Desk(plan)
    for name in shown:
        desk.says("-# Made by `draw`", [(name, b"q1.0")])
    desk.says(plan.answer("q1", 1))
    found = desk.wrong(*lines)
    assert expected in found
    assert bool(found) == bool(expected)


def test_a_message_for_files_without_any_is_wrong() -> None:
    desk = Desk(Plan())
    desk.says("-# Made by `draw`")
    desk.says(Plan().answer("q1", 1))
    assert "no file" in desk.wrong()
