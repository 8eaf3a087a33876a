"""Saying later what people want said: with a clock that is moved, and over restarts."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.errors import StorageError
from bot.events import UserMessageEvent, utc_now
from bot.frontend import ParleyClient
from bot.frontend.commands.taking_back import NOT_YOURS
from bot.frontend.control import NOT_YOU
from bot.frontend.recovery import comeback
from bot.frontend.schedules import reminding
from bot.frontend.schedules.reminding import Reminders
from bot.frontend.schedules.scheduling import CANCELLED, NONE, NOT_THERE
from bot.frontend.schedules.when import NOT_READ
from bot.frontend.shards import Shards
from bot.sandbox.timing.gates import Gate
from bot.sessions.stores.homes import HomeStore
from bot.sessions.stores.schedules import Schedule, ScheduleStore
from bot.storage import connection as storage
from tests.e2e.stage import PATIENCE, Stage
from tests.setups import labels


@dataclass
class Wall:
    """A clock on the wall, which only tests move: it is a Friday."""

    now: datetime = field(default=datetime(2026, 11, 27, 15, 0, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Time:
    """The stage, and the clock by which it reminds."""

    stage: Stage
    wall: Wall = field(default_factory=Wall)
    client: ParleyClient = field(init=False)

    @asynccontextmanager
    async def running(self, **options: object) -> AsyncIterator[None]:
        async with self.stage.running(clock=self.wall, **options) as self.client:
            yield

    def passes(self, **much: float) -> None:
        """Move the clock, and have it looked at."""
        self.wall.now += timedelta(**much)
        self.client._parts.reminders.wake()

    async def settled(self) -> None:
        """Wait until what was due is said, and noted."""
        reminders = self.client._parts.reminders
        reminders.wake()
        assert await self.client._parts.work.finish(PATIENCE)

    async def remind(self, when: str, text: str = "stand up", **more: object) -> str:
        told = await self.stage.alice.runs(
            "/remind", in_=self.stage.desk, when=when, text=text, **more
        )
        return told.text

    @property
    def said(self) -> list[str]:
        """The reminders that were posted at the desk."""
        return [each for each in self.stage.said(self.stage.desk) if each.startswith("⏰")]


@pytest.fixture(name="time")
def _time(stage: Stage) -> Time:
    return Time(stage)


async def test_a_reminder_is_posted_when_it_is_due_and_pings_nobody(time: Time) -> None:
    async with time.running():
        told = await time.remind("in 20 minutes", "@everyone stand up")
        due = int(time.wall.now.timestamp()) + 20 * 60
        assert told.startswith(f"I will remind you <t:{due}:F> (<t:{due}:R>).")
        time.passes(minutes=19)
        shown = await time.stage.alice.runs("/reminders", in_=time.stage.desk)
        assert "says: @everyone stand up" in shown.text
        time.passes(minutes=1)
        await time.stage.says(time.stage.desk, "stand up")
        time.passes(minutes=60)
        await time.settled()
        shown = await time.stage.alice.runs("/reminders", in_=time.stage.desk)
        assert shown.text == NONE
    assert time.said == [f"⏰ <@{time.stage.alice.id}>: @everyone stand up"]
    assert time.stage.world.pings == []


async def test_a_recurring_one_is_said_each_time_in_ones_own_zone(time: Time) -> None:
    async with time.running():
        desk = time.stage.desk
        told = await time.stage.alice.runs("/timezone", in_=desk, zone="Europe/Berlin")
        assert told.text.startswith("Your time zone is Europe/Berlin now")
        told = await time.stage.alice.runs("/timezone", in_=desk)
        assert told.text == "Your time zone is Europe/Berlin."
        said = await time.remind("every weekday 9:00")
        assert "and then every weekday at 09:00" in said
        time.wall.now = datetime(2026, 11, 28, 9, 0, tzinfo=UTC)  # a Saturday
        time.passes()
        time.wall.now = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)  # Monday, 9:00 in Berlin
        time.passes()
        await time.stage.says(desk, "stand up")
        await time.settled()
        [kept] = await time.client._parts.scheduling.of(f"user-{time.stage.alice.id}")
        assert kept.due_at == datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
    assert len(time.said) == 1


async def test_the_agent_is_asked_in_a_turn_of_its_own(time: Time) -> None:
    time.stage.model.says("The agenda: tea.")
    async with time.running():
        told = await time.remind("every day at 16:00", "post the agenda", ask=True)
        assert told.startswith("I will work on it")
        time.passes(hours=1)
        await time.stage.says(time.stage.desk, "The agenda: tea.")
        shown = await time.stage.alice.runs("/reminders", in_=time.stage.desk)
        assert "every day at 16:00 (UTC), in <#" in shown.text
        assert "asks me: post the agenda" in shown.text
    log = await time.stage.log_of(f"channel-{time.stage.desk.id}")
    [asked] = [each for each in log if isinstance(each, UserMessageEvent)]
    assert asked.text == "post the agenda"
    assert time.stage.asked[0][-1][1] == (
        f"[from alice (user-{time.stage.alice.id})]\npost the agenda\n"
        "[note: This was scheduled: every day at 16:00.]"
    )


async def test_what_came_due_while_away_is_said_once_and_not_too_late(time: Time) -> None:
    async with time.running():
        await time.remind("in 30 minutes", "soon")
        await time.remind("in 3 hours", "too early to be late")
        await time.remind("every day at 18:30", "daily")
    time.wall.now += timedelta(days=2, hours=4)  # Sunday, 19:00
    async with time.running():
        await time.stage.says(time.stage.desk, "daily")
        await time.settled()
        [left] = await time.client._parts.scheduling.of(f"user-{time.stage.alice.id}")
        assert left.due_at == datetime(2026, 11, 30, 18, 30, tzinfo=UTC)
    async with time.running():
        time.passes(minutes=1)
    assert time.said == [f"⏰ <@{time.stage.alice.id}>: daily"]


async def test_a_clock_that_goes_back_says_nothing_twice(time: Time) -> None:
    async with time.running():
        await time.remind("every day at 15:30")
        time.passes(minutes=30)
        await time.stage.says(time.stage.desk, "stand up")
        time.passes(hours=-1)
        await time.remind("in 5 minutes", "other")
        time.passes(minutes=31)
        await time.stage.says(time.stage.desk, "other")
    assert len(time.said) == 2


async def test_who_may_not_write_there_any_more_is_not_heard(time: Time) -> None:
    stage = time.stage
    async with time.running():
        await time.remind("in 5 minutes", "mine")
        await stage.bob.runs("/remind", in_=stage.desk, when="in 5 minutes", text="bobs")
        stage.guild.permits(stage.alice, in_=stage.desk, deny=["SEND_MESSAGES"])
        time.passes(minutes=5)
        await stage.says(stage.desk, "bobs")
    assert time.said == [f"⏰ <@{stage.bob.id}>: bobs"]


async def test_reminders_work_in_dms(time: Time) -> None:
    stage = time.stage
    dm = stage.alice.dm(stage.bot)
    async with time.running():
        await stage.alice.runs("/remind", in_=dm, when="in 5 minutes", text="tea")
        time.passes(minutes=5)
        await stage.says(dm, "tea")


async def test_only_its_owner_cancels_one(time: Time) -> None:
    stage = time.stage
    async with time.running():
        await time.remind("in 5 minutes")
        assert not await stage.bob.completes("/reminders", in_=stage.desk, option="cancel")
        [(name, value)] = await stage.alice.completes(
            "/reminders", in_=stage.desk, option="cancel", typed="STAND"
        )
        assert name == "once: stand up"
        told = await stage.bob.runs("/reminders", in_=stage.desk, cancel=str(value))
        assert told.text == NOT_THERE
        told = await stage.alice.runs("/reminders", in_=stage.desk, cancel=str(value))
        assert told.text == CANCELLED
        time.passes(minutes=5)
        await time.remind("in 5 minutes", "other")
        time.passes(minutes=5)
        await stage.says(stage.desk, "other")
    assert len(time.said) == 1


async def test_what_cannot_be_is_told_at_once(time: Time) -> None:
    stage = time.stage
    async with time.running():
        assert await time.remind("someday") == NOT_READ
        for _ in range(25):
            await time.remind("in 5 minutes")
        assert "25 schedules already" in await time.remind("in 5 minutes")
        shown = await stage.alice.runs("/reminders", in_=stage.desk, page=9)
        assert "Page 3 of 3" in shown.text
        told = await stage.alice.runs("/timezone", in_=stage.desk, zone="Mars/Base")
        assert told.text.startswith("There is no time zone Mars/Base")
        found = await stage.alice.completes(
            "/timezone", in_=stage.desk, option="zone", typed="los ang"
        )
        assert found == [("America/Los_Angeles", "America/Los_Angeles")]
    async with time.running(user_ids=frozenset({stage.bob.id})):
        assert await time.remind("in 5 minutes") == NOT_YOU


async def test_the_agent_schedules_once_freely_with_a_way_back(time: Time) -> None:
    stage = time.stage
    stage.model.says(calls=[("schedule", {"text": "tea", "in_minutes": 5})]).then("Will do.")
    async with time.running():
        await stage.alice.says("remind me of tea", in_=stage.desk)
        await stage.says(stage.desk, "Will do.")
        line = await stage.says(stage.desk, "Scheduled once")
        assert "first Friday, 27 November 2026, 15:05 UTC: tea" in line.content
        assert labels(line) == ["Undo"]
        assert (await stage.bob.clicks(line, "Undo")).text == NOT_YOURS
        await stage.alice.clicks(line, "Undo")
        await line.until(lambda message: message.content == "-# Undone.")
        time.passes(minutes=5)
        shown = await stage.alice.runs("/reminders", in_=stage.desk)
        assert shown.text == NONE
    assert time.said == []


async def test_what_no_database_can_keep_is_said_with_a_mark_in_its_place(time: Time) -> None:
    stage = time.stage
    broken = {"text": "nothing \0 at all", "in_minutes": 5}
    stage.model.says(calls=[("schedule", broken)]).then("Will do.")
    async with time.running():
        await stage.alice.says("remind me of nothing", in_=stage.desk)
        await stage.says(stage.desk, "Will do.")
        await time.remind("in 5 minutes", "half a parrot \ud83e")
        told = await stage.alice.runs("/reminders", in_=stage.desk, cancel="a\0b\ud83e")
        assert told.text == NOT_THERE
        time.passes(minutes=5)
        await stage.says(stage.desk, "half a parrot \ufffd")
        await stage.says(stage.desk, "nothing \ufffd at all")


async def test_what_comes_again_waits_for_whose_it_is(time: Time) -> None:
    stage = time.stage
    weekly = {"text": "post the agenda", "at": "09:00", "weekdays": ["Monday"], "ask": True}
    stage.model.says(calls=[("schedule", weekly)]).then("Every Monday, then.").then("Agenda.")
    async with time.running():
        await stage.alice.says("every monday at 9 post the agenda", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        refused = await stage.bob.clicks(card, "Approve")
        assert "may not" in refused.text
        await stage.alice.clicks(card, "Approve")
        await stage.says(stage.desk, "Every Monday, then.")
        time.wall.now = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
        time.passes()
        await stage.says(stage.desk, "Agenda.")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"text": "x", "at": "9 o'clock", "date": "2026-12-01"}, "That is no time"),
        ({"text": "x", "at": "09:00", "date": "tomorrow"}, "That is no time"),
        ({"text": "x", "at": "09:00", "date": "2020-01-01"}, "That time is over."),
    ],
)
async def test_a_time_that_is_none_is_told_to_the_model(
    time: Time, arguments: dict[str, object], told: str
) -> None:
    stage = time.stage
    stage.model.says(calls=[("schedule", arguments)]).then("Hm.")
    async with time.running():
        await stage.alice.says("later please", in_=stage.desk)
        await stage.says(stage.desk, "Hm.")
    assert told in stage.asked[-1][-1][1]


async def test_who_left_the_server_is_not_heard(time: Time) -> None:
    stage = time.stage
    async with time.running():
        await time.remind("in 5 minutes", "mine")
        await stage.bob.runs("/remind", in_=stage.desk, when="in 5 minutes", text="bobs")
        stage.guild.leave(stage.alice)
        time.passes(minutes=5)
        await stage.says(stage.desk, "bobs")
    assert time.said == [f"⏰ <@{stage.bob.id}>: bobs"]


async def test_a_reminder_is_sent_again_and_posted_once_when_discord_fails(time: Time) -> None:
    stage = time.stage
    async with time.running():
        await time.remind("in 5 minutes", "tea")
        stage.sandbox.faults.next_send(in_=stage.desk, fails=503, after_effect=True)
        time.passes(minutes=5)
        await stage.says(stage.desk, "tea")
    assert len(time.said) == 1


async def test_one_that_cannot_be_taken_holds_up_no_other(
    time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    stage = time.stage
    async with time.running():
        await time.remind("in 5 minutes", "broken")
        await stage.bob.runs("/remind", in_=stage.desk, when="in 6 minutes", text="bobs")
        sql = "UPDATE schedules SET zone = 'Mars/Base' WHERE user_id = ?"
        await stage.store.database.execute(sql, (f"user-{stage.alice.id}",))
        time.passes(minutes=6)
        await stage.says(stage.desk, "bobs")
    assert len(time.said) == 1
    assert "could not be taken" in caplog.text


async def test_a_reminder_of_a_place_that_is_gone_is_said_nowhere(time: Time) -> None:
    stage = time.stage
    async with time.running():
        message = await stage.alice.says(f"{stage.bot.mention} hi", in_=stage.general)
        thread = await stage.thread_on(message)
        told = await stage.alice.runs("/remind", in_=thread, when="in 5 minutes", text="lost")
        assert "I will remind you" in told.text
        await stage.bob.runs("/remind", in_=stage.desk, when="in 6 minutes", text="bobs")
        schedules = time.client._parts.scheduling
        [kept] = await schedules.of(f"user-{stage.alice.id}")
        sql = "UPDATE schedules SET session_id = ? WHERE schedule_id = ?"
        await stage.store.database.execute(sql, ("thread-4242", kept.schedule_id))
        time.passes(minutes=6)
        await stage.says(stage.desk, "bobs")
        await time.settled()
        assert await schedules.of(f"user-{stage.alice.id}") == []
    assert len(time.said) == 1


@pytest.mark.parametrize("posted", [False, True])
async def test_a_kill_while_it_is_being_posted_says_it_once(time: Time, posted: bool) -> None:
    stage, gate = time.stage, Gate()
    async with time.running():
        await time.remind("in 5 minutes", "tea")
        stage.sandbox.faults.next_send(in_=stage.desk, held_by=gate, after_effect=posted)
        time.passes(minutes=5)
        await gate.reached()
        await stage.kill(time.client)
    assert len(time.said) == posted
    async with time.running():
        await time.settled()
        await stage.says(stage.desk, "tea")
        shown = await stage.alice.runs("/reminders", in_=stage.desk)
        assert shown.text == NONE
    gate.release()
    assert len(time.said) == 1


async def test_the_same_words_a_while_before_were_another_reminder(time: Time) -> None:
    stage, gate = time.stage, Gate()
    time.wall.now = utc_now()  # as Discord has it
    async with time.running():
        for when in ("in 5 minutes", "in 15 minutes"):
            await time.remind(when, "tea")
        time.passes(minutes=5)
        await time.settled()
        stage.sandbox.faults.next_send(in_=stage.desk, held_by=gate)
        time.passes(minutes=10)
        await gate.reached()
        await stage.kill(time.client)
    async with time.running():
        await time.settled()
    gate.release()
    assert len(time.said) == 2


async def test_a_kill_where_what_was_said_cannot_be_read_says_it_rather_twice_than_never(
    time: Time,
) -> None:
    stage, gate = time.stage, Gate()
    async with time.running():
        await time.remind("in 5 minutes", "tea")
        stage.sandbox.faults.next_send(in_=stage.desk, held_by=gate, resets=True)
        time.passes(minutes=5)
        await gate.reached()
        await stage.kill(time.client)
    stage.guild.permits(stage.bot, in_=stage.desk, deny=["READ_MESSAGE_HISTORY"])
    async with time.running():
        await stage.says(stage.desk, "tea")
    gate.release()


@pytest.mark.parametrize("ask", [False, True])
async def test_what_was_said_and_could_not_be_noted_is_not_said_again(
    time: Time, ask: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the process is killed between the two."""
    stage = time.stage
    stage.model.says("Tea is made.")
    async with time.running():
        await time.remind("every day at 15:05", "tea", ask=ask)
        with monkeypatch.context() as patch:
            patch.setattr(ScheduleStore, "move_on", _away)
            time.passes(minutes=5)
            await time.settled()
        [kept] = await time.client._parts.scheduling.of(f"user-{stage.alice.id}")
        assert kept.due_at == time.wall.now
    async with time.running():
        await time.settled()
        [kept] = await time.client._parts.scheduling.of(f"user-{stage.alice.id}")
        assert kept.due_at == time.wall.now + timedelta(days=1)
    assert len([each for each in stage.said(stage.desk) if "tea" in each.lower()]) == 1
    assert len(stage.model.requests) == ask


async def test_what_cannot_be_said_for_a_while_is_said_later(
    time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = time.stage
    monkeypatch.setattr(reminding, "RETRY_AFTER", ())
    async with time.running():
        await time.remind("in 5 minutes", "tea")
        trouble = stage.sandbox.faults.next_send(in_=stage.desk, fails=503, times=None)
        time.passes(minutes=5)
        await time.settled()
        assert trouble.hits
        trouble.ends()
        time.passes(minutes=1)
        await stage.says(stage.desk, "tea")
    assert len(time.said) == 1


async def test_what_came_due_while_the_database_was_away_is_said_when_it_is_back(
    time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = time.stage
    monkeypatch.setattr(storage, "BUSY_SECONDS", 0.3)
    monkeypatch.setattr(comeback, "RETRY_AFTER", (0.2,))
    async with time.running():
        await time.remind("in 5 minutes", "tea")
        with closing(sqlite3.connect(stage.database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            time.passes(minutes=5)
            assert await time.client._parts.work.finish(PATIENCE)
            assert time.said == []
            other.execute("ROLLBACK")
        await stage.says(stage.desk, "tea")  # though nothing else lets them be looked at
    assert len(time.said) == 1


async def test_what_is_due_and_cannot_be_read_is_looked_for_again(
    time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comeback, "RETRY_AFTER", (0.2,))
    async with time.running():
        await time.remind("in 5 minutes", "tea")
        with monkeypatch.context() as patch:
            patch.setattr(ScheduleStore, "due", _unreadable)
            time.passes(minutes=5)
            assert await time.client._parts.work.finish(PATIENCE)
        await time.stage.says(time.stage.desk, "tea")
    assert len(time.said) == 1


async def _unreadable(schedules: ScheduleStore, now: datetime) -> list[Schedule]:
    raise StorageError("the database is away for a moment")


async def _away(schedules: ScheduleStore, schedule: Schedule, after: datetime) -> bool:
    raise StorageError("the database is away for a moment")


async def test_what_another_process_serves_is_left_to_it(time: Time) -> None:
    stage = time.stage
    count = 1024
    shard = (stage.guild.id >> 22) % count
    async with time.running():
        await time.remind("in 5 minutes", "tea")
        mine = time.client._parts.reminders._parts
        theirs = replace(time.stage.options.shards, count=count, ids=frozenset({shard ^ 1}))
        others = Reminders(replace(mine, is_ours=_only(theirs, mine.homes)))
        time.wall.now += timedelta(minutes=5)
        await others._look()
        await mine.work.finish(PATIENCE)
        assert len(await mine.schedules.of(f"user-{stage.alice.id}")) == 1
        time.passes()
        await stage.says(stage.desk, "tea")


def _only(shards: Shards, homes: HomeStore) -> Callable[[str], Awaitable[bool]]:
    async def is_ours(session_id: str) -> bool:
        home = await homes.of(session_id)
        return shards.has(home.server_id if home else None)

    return is_ours
