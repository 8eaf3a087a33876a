"""What is remembered of one person, another never gets, whichever Discord it is."""

from __future__ import annotations

from bot.frontend.commands.taking_back import NOT_YOURS
from tests.worlds.scene import Scene, Told

SECRET = "has a surprise party planned"
NOTE = ("remember", {"text": SECRET})


async def alice_has_a_note(scene: Scene) -> None:
    """Let the agent keep a note of alice in her DM, with her consent."""
    dm = scene.dm(scene.alice)
    await scene.runs(scene.alice, "/memory", in_=dm, turn="on")
    scene.model.says(calls=[NOTE]).then("I keep it.")
    await scene.says(scene.alice, "I plan a surprise party", in_=dm)
    await scene.sees("I keep it.", in_=dm)
    await scene.sees("I will remember", in_=dm)


def told(scene: Scene, since: int) -> str:
    """Return all that the model was sent since some request."""
    return str(scene.asked[since:])


async def test_another_person_in_the_channel_never_gets_it(scene: Scene) -> None:
    await alice_has_a_note(scene)
    before = len(scene.asked)
    scene.model.says("Hi alice.").then("Hi bob.")
    await scene.says(scene.alice, "any surprise party planned?", in_=scene.desk)
    await scene.sees("Hi alice.", in_=scene.desk)
    await scene.runs(scene.bob, "/memory", in_=scene.desk, turn="on", here="on")
    await scene.says(scene.bob, "which surprise party is planned?", in_=scene.desk)
    await scene.sees("Hi bob.", in_=scene.desk)
    assert SECRET not in told(scene, before)
    mine = await scene.runs(scene.bob, "/memory", in_=scene.desk)
    assert SECRET not in mine.text
    assert await scene.completes(scene.bob, "/memory", in_=scene.desk, option="remove") == []
    assert not any(SECRET in each for each in scene.said(scene.desk))


async def test_where_its_owner_allowed_it_only_their_own_words_bring_it_back(
    scene: Scene,
) -> None:
    await alice_has_a_note(scene)
    await scene.runs(scene.alice, "/memory", in_=scene.desk, here="on")
    await scene.runs(scene.bob, "/memory", in_=scene.desk, turn="on", here="on")
    before = len(scene.asked)
    scene.model.says("Hi bob.").then("Hi alice.")
    await scene.says(scene.bob, "which surprise party is planned?", in_=scene.desk)
    await scene.sees("Hi bob.", in_=scene.desk)
    assert SECRET not in told(scene, before)
    await scene.says(scene.alice, "my surprise party, planned?", in_=scene.desk)
    await scene.sees("Hi alice.", in_=scene.desk)
    assert scene.asked[-1][-1][1].endswith(f"[remembered about alice: {SECRET}]")


async def test_a_note_comes_back_after_a_restart_until_it_is_undone(scene: Scene) -> None:
    await alice_has_a_note(scene)
    await scene.restarts()
    dm = scene.dm(scene.alice)
    line = await scene.sees("I will remember", in_=dm)
    await scene.clicks(scene.alice, line, "Undo")
    await scene.sees_on(line, "Undone.")
    scene.model.says("Which party?")
    await scene.runs(scene.alice, "/memory", in_=scene.desk, here="on")
    await scene.says(scene.alice, "the surprise party that is planned", in_=scene.desk)
    await scene.sees("Which party?", in_=scene.desk)
    assert "remembered" not in scene.asked[-1][-1][1]


async def test_a_note_made_in_a_channel_is_not_for_others_to_undo(scene: Scene) -> None:
    await scene.runs(scene.alice, "/memory", in_=scene.desk, turn="on", here="on")
    scene.model.says(calls=[NOTE]).then("I keep it.")
    await scene.says(scene.alice, "I plan a surprise party", in_=scene.desk)
    line = await scene.sees("I will remember", in_=scene.desk)
    told = await scene.clicks(scene.bob, line, "Undo")
    assert told == Told(NOT_YOURS, private=True)
