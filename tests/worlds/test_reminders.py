"""Reminders, whichever Discord it is."""

from __future__ import annotations

from bot.frontend.schedules.scheduling import NONE
from tests.worlds.scene import Scene


async def test_a_reminder_is_kept_over_a_restart_and_cancelled_by_its_owner(scene: Scene) -> None:
    told = await scene.runs(
        scene.alice, "/remind", in_=scene.desk, when="every weekday 9:00", text="post the agenda"
    )
    assert told.private
    assert "and then every weekday at 09:00" in told.text
    await scene.restarts()
    shown = await scene.runs(scene.alice, "/reminders", in_=scene.desk)
    assert "says: post the agenda" in shown.text
    assert (await scene.runs(scene.bob, "/reminders", in_=scene.desk)).text == NONE
    [(_, name)] = await scene.completes(scene.alice, "/reminders", in_=scene.desk, option="cancel")
    await scene.runs(scene.alice, "/reminders", in_=scene.desk, cancel=name)
    assert (await scene.runs(scene.alice, "/reminders", in_=scene.desk)).text == NONE


async def test_the_agent_schedules_something_that_is_undone(scene: Scene) -> None:
    scene.model.says(calls=[("schedule", {"text": "tea", "in_minutes": 5})]).then("Will do.")
    await scene.says(scene.alice, "remind me of tea", in_=scene.desk)
    line = await scene.sees("Scheduled once", in_=scene.desk)
    await scene.sees("Will do.", in_=scene.desk)
    await scene.clicks(scene.alice, line, "Undo")
    await scene.sees_on(line, "Undone.")
    assert (await scene.runs(scene.alice, "/reminders", in_=scene.desk)).text == NONE
