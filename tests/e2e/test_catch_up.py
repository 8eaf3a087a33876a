"""What is written while the bot is away is answered once, in its order; or told to be too old."""

import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.events import UserMessageEvent
from bot.frontend.hearing import catch_up, inbox
from bot.sandbox import Gate, Kind, ManualClock, Place, Refusal
from bot.sessions.stores.places import PlaceStore
from tests.e2e.stage import Stage, logged

LONG = timedelta(hours=3)


@pytest.fixture
def clock() -> ManualClock:
    """Begin in the past: what is written now is old when the clock was moved on."""
    return ManualClock(datetime.now(UTC) - LONG, running=True)


def echo(request: Mapping[str, Any]) -> str:
    """Answer with the last line of what was said last."""
    return f"Re: {request['messages'][-1]['content'].splitlines()[-1]}"


async def acquainted(stage: Stage, place: Place | None = None) -> None:
    """Let the bot answer one message, in the present, and stop."""
    stage.model.answers(echo)
    stage.clock.advance(LONG.total_seconds())
    async with stage.running():
        await stage.alice.says("hello", in_=place or stage.desk)
        await stage.says(place or stage.desk, "Re: hello")


def reads(stage: Stage, since: int) -> list[str]:
    """Return the paths of the lists of messages that were asked for."""
    asked = (each for each in stage.world.requests[since:] if each.method == "GET")
    return [each.path for each in asked if each.path.endswith("/messages")]


async def test_what_was_missed_is_answered_in_order_before_what_is_said_now(stage: Stage) -> None:
    await acquainted(stage)
    await stage.alice.says("one", in_=stage.desk)
    await stage.bob.says("two", in_=stage.desk)
    async with stage.running():
        await stage.alice.says("three", in_=stage.desk)
        await stage.says(stage.desk, "Re: three")
    assert stage.said(stage.desk) == ["Re: hello", "Re: one", "Re: two", "Re: three"]


async def test_what_is_said_before_all_servers_are_there_waits_too(stage: Stage) -> None:
    await acquainted(stage)
    await stage.alice.says("one", in_=stage.desk)
    async with stage.running(guilds_within=1.0):
        await stage.alice.says("two", in_=stage.desk)
        await stage.says(stage.desk, "Re: two")
    assert stage.said(stage.desk)[1:] == ["Re: one", "Re: two"]


async def test_an_empty_store_catches_up_nothing(stage: Stage) -> None:
    stage.model.answers(echo)
    stage.clock.advance(LONG.total_seconds() - 10)
    dm = stage.alice.dm(stage.bot)
    await stage.alice.says("early", in_=stage.desk)
    await stage.alice.says("early", in_=dm)
    stage.clock.advance(10)
    for text in ("one", "two"):
        async with stage.running():
            await stage.alice.says(text, in_=stage.desk)
            await stage.alice.says(text, in_=dm)
            await stage.says(stage.desk, f"Re: {text}")
            await stage.says(dm, f"Re: {text}")
    assert stage.said(stage.desk) == stage.said(dm) == ["Re: one", "Re: two"]


async def test_a_mention_in_a_place_never_seen_is_answered(stage: Stage) -> None:
    await acquainted(stage)
    opening = await stage.bob.says(f"{stage.bot.mention} over here", in_=stage.general)
    async with stage.running():
        thread = await stage.thread_on(opening)
        await stage.says(thread, "Re: over here")
    assert stage.said(thread) == ["Re: over here"]


async def test_threads_and_dms_are_caught_up_too(stage: Stage) -> None:
    dm = stage.alice.dm(stage.bot)
    await acquainted(stage, dm)
    async with stage.running():
        opening = await stage.alice.says(f"{stage.bot.mention} first", in_=stage.general)
        thread = await stage.thread_on(opening)
        await stage.says(thread, "Re: first")
    await stage.alice.says("still there?", in_=dm)
    await stage.alice.says("second", in_=thread)
    async with stage.running():
        await stage.says(dm, "Re: still there?")
        await stage.says(thread, "Re: second")
    assert stage.said(thread) == ["Re: first", "Re: second"]
    assert len(stage.said(dm)) == 2


async def test_dms_are_caught_up_where_our_clock_is_ahead_of_discords(stage: Stage) -> None:
    stage.model.answers(echo)
    stage.clock.advance(LONG.total_seconds() - 600)
    dm = stage.alice.dm(stage.bot)
    async with stage.running():
        await stage.alice.says("hello", in_=dm)
        await stage.says(dm, "Re: hello")
    await stage.alice.says("still there?", in_=dm)
    async with stage.running():
        await stage.says(dm, "Re: still there?")


async def test_only_places_with_something_new_are_read(stage: Stage) -> None:
    quiet = stage.guild.channel("quiet")
    await acquainted(stage)
    await stage.bob.says("just chatting", in_=quiet)
    async with stage.running():
        await stage.alice.says("again", in_=stage.desk)
        await stage.says(stage.desk, "Re: again")
    before = len(stage.world.requests)
    opening = await stage.bob.says(f"{stage.bot.mention} chatting on", in_=stage.general)
    async with stage.running():
        await stage.says(await stage.thread_on(opening), "Re: chatting on")
    assert f"/api/v10/channels/{stage.general.id}/messages" in reads(stage, before)
    assert not any(str(quiet.id) in each for each in reads(stage, before))


async def test_the_chatter_of_others_is_noted_at_the_end_only(stage: Stage) -> None:
    await acquainted(stage)
    async with stage.running():
        said = await stage.bob.says("just chatting", in_=stage.general)
        await stage.alice.says("again", in_=stage.desk)
        await stage.says(stage.desk, "Re: again")
        assert stage.general.id not in await PlaceStore(stage.store.database).all()
    with sqlite3.connect(stage.database) as connection:
        [[seen]] = connection.execute(
            "SELECT seen_up_to FROM places WHERE channel_id = ?", (stage.general.id,)
        )
    connection.close()
    assert seen == said.id


async def test_a_kill_before_the_note_of_it_answers_nothing_twice(stage: Stage) -> None:
    await acquainted(stage)
    with sqlite3.connect(stage.database) as connection:
        connection.execute("DELETE FROM places WHERE channel_id <> 0")
    connection.close()
    await stage.alice.says("and now?", in_=stage.desk)
    async with stage.running():
        await stage.says(stage.desk, "Re: and now?")
    assert stage.said(stage.desk) == ["Re: hello", "Re: and now?"]


async def test_what_is_too_old_is_skipped_and_told_in_one_line(stage: Stage) -> None:
    stage.model.answers(echo)
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Re: hello")
        opening = await stage.bob.says(f"{stage.bot.mention} hi", in_=stage.general)
        await stage.says(await stage.thread_on(opening), "Re: hi")
    for text in ("old one", "old two"):
        await stage.alice.says(text, in_=stage.desk, attachments=[("a.txt", b"a")])
    await stage.bob.says(f"{stage.bot.mention} old three", in_=stage.general)
    await stage.bob.says("not for the bot", in_=stage.general)
    stage.clock.advance(LONG.total_seconds())
    await stage.alice.says("new", in_=stage.desk)
    for _ in range(2):
        async with stage.running():
            await stage.says(stage.desk, "Re: new")
            await stage.says(stage.general, inbox.LATE)
    assert stage.said(stage.desk) == ["Re: hello", inbox.LATE, "Re: new"]
    assert stage.said(stage.general) == [inbox.LATE]
    assert "old" not in str(stage.asked)
    log = await stage.log_of(f"channel-{stage.desk.id}")
    said = [each for each in log if isinstance(each, UserMessageEvent)]
    assert (said[1].text, said[1].notes) == ("old one", ("The file a.txt was not read.",))


async def test_what_is_too_old_and_not_meant_for_the_bot_says_nothing(stage: Stage) -> None:
    stage.model.answers(echo)
    async with stage.running(role_ids=frozenset({1}), user_ids=frozenset({stage.alice.id})):
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Re: hello")
    await stage.bob.says("may not talk", in_=stage.desk)
    robot = stage.world.person("robot", bot=True)
    stage.guild.join(robot)
    await robot.says("beep", in_=stage.desk)
    stage.clock.advance(LONG.total_seconds())
    async with stage.running(role_ids=frozenset({1}), user_ids=frozenset({stage.alice.id})):
        await stage.alice.says("new", in_=stage.desk)
        await stage.says(stage.desk, "Re: new")
    assert stage.said(stage.desk) == ["Re: hello", "Re: new"]


async def test_who_may_talk_by_a_role_is_recognised_later_too(stage: Stage) -> None:
    role = stage.guild.role("friends")
    stage.guild.members[stage.alice.id].roles.append(role)
    stage.guild.members[stage.alice.id].nick = "Ally"
    friends = frozenset({role.id})
    stage.model.answers(echo)
    stage.clock.advance(LONG.total_seconds())
    async with stage.running(role_ids=friends):
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Re: hello")
    await stage.bob.says("me too", in_=stage.desk)
    await stage.alice.says("and now?", in_=stage.desk)
    async with stage.running(role_ids=friends):
        await stage.says(stage.desk, "Re: and now?")
    assert stage.said(stage.desk) == ["Re: hello", "Re: and now?"]
    assert "[from Ally" in stage.asked[-1][-1][1]


async def test_what_one_wrote_over_an_hour_is_not_too_fast(stage: Stage) -> None:
    stage.model.answers(echo)
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Re: hello")
    stage.clock.advance(LONG.total_seconds() - 1800)
    for text in ("one", "two", "three"):
        await stage.alice.says(text, in_=stage.desk)
        stage.clock.advance(600)
    async with stage.running(turns_per_minute=1):
        await stage.says(stage.desk, "Re: three")
    assert len(stage.said(stage.desk)) == 4


async def test_many_pages_are_read_to_their_end(stage: Stage) -> None:
    await acquainted(stage)
    for number in range(230):
        await stage.bob.says(f"chatter {number}", in_=stage.general)
    opening = await stage.bob.says(f"{stage.bot.mention} finally", in_=stage.general)
    before = len(stage.world.requests)
    async with stage.running():
        await stage.says(await stage.thread_on(opening), "Re: finally")
    assert reads(stage, before).count(f"/api/v10/channels/{stage.general.id}/messages") == 3


async def test_a_place_that_cannot_be_read_is_named_in_the_log(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    await acquainted(stage)
    stage.world.loses_permission(stage.bot, "READ_MESSAGE_HISTORY", in_=stage.desk)
    await stage.alice.says("missed", in_=stage.desk)
    async with stage.running():
        await stage.alice.says("now", in_=stage.desk)
        await stage.says(stage.desk, "Re: now")
    assert f"what was missed in {stage.desk.id} cannot be read: Read Message History" in caplog.text
    assert stage.said(stage.desk) == ["Re: hello", "Re: now"]


async def test_a_place_that_discord_refuses_holds_up_nothing(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    await acquainted(stage)
    await stage.alice.says("missed", in_=stage.desk)
    path = f"/channels/{stage.desk.id}/messages"
    stage.world.faults.next_request("GET", path, fails=Refusal.MISSING_ACCESS)
    async with stage.running():
        await stage.alice.says("now", in_=stage.desk)
        await stage.says(stage.desk, "Re: now")
    assert "cannot be read: I have no access to this place" in caplog.text


async def test_what_could_not_be_read_is_read_later_and_first(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catch_up, "RETRY_AFTER", (0.1,))
    await acquainted(stage)
    await stage.alice.says("one", in_=stage.desk)
    path = f"/channels/{stage.desk.id}/messages"
    stage.world.faults.next_request("GET", path, fails=503, times=3)
    async with stage.running():
        await stage.alice.says("two", in_=stage.desk)
        await stage.says(stage.desk, "Re: two")
    assert stage.said(stage.desk) == ["Re: hello", "Re: one", "Re: two"]


async def test_what_could_not_be_recorded_is_told_once_and_answered_when_it_can(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(catch_up, "RETRY_AFTER", (0.1,))
    await acquainted(stage)
    failed = f"turn failed in channel-{stage.desk.id} (storage)"

    def rename(before: str, after: str) -> None:
        with sqlite3.connect(stage.database) as connection:
            connection.execute(f"ALTER TABLE {before} RENAME TO {after}")
        connection.close()

    async with stage.running():
        rename("events", "gone")
        await stage.alice.says("one", in_=stage.desk)
        await stage.says(stage.desk, "I cannot read or write my memory right now")
        await stage.bob.says("two", in_=stage.desk)
        await logged(caplog, failed, caplog.text.count(failed) + 2)
        rename("gone", "events")
        await stage.says(stage.desk, "Re: two")
    told, *answers = stage.said(stage.desk)[1:]
    assert told.startswith("I cannot read or write my memory right now")
    assert answers == ["Re: one", "Re: two"]


async def test_a_message_whose_turn_fails_is_not_tried_for_ever(stage: Stage) -> None:
    await acquainted(stage)
    await stage.alice.says("one", in_=stage.desk)
    stage.model.fails(500)
    for _ in range(3):
        async with stage.running():
            await stage.says(stage.desk, "The model service is busy or cannot be reached")
    failures = [each for each in stage.said(stage.desk) if "model service" in each]
    assert len(failures) == 1


async def test_a_thread_that_a_killed_bot_had_opened_is_used(stage: Stage) -> None:
    await acquainted(stage)
    opening = await stage.alice.says(f"{stage.bot.mention} hello", in_=stage.general)
    gate = Gate()
    stage.world.faults.next_thread(held_by=gate, after_effect=True)
    async with stage.running():
        await gate.reached()
        await stage.alice.says("in the thread", in_=await stage.thread_on(opening))
    gate.release()
    async with stage.running():
        thread = await stage.thread_on(opening)
        await stage.says(thread, "Re: in the thread")
    assert stage.said(thread) == ["Re: hello", "Re: in the thread"]
    said = [each for each in stage.general.messages if each.kind is Kind.DEFAULT]
    assert len(said) == 1
