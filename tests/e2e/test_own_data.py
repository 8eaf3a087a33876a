"""What people get of their own, and what is forgotten, in Discord and on disk."""

from __future__ import annotations

import asyncio
import itertools
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import discord
import pytest

from bot.agent.loop import endings
from bot.errors import OtherApplicationError, StorageError
from bot.events import Author, ErasedEvent, UserMessageEvent, utc_now
from bot.frontend import Stores
from bot.frontend.commands.own import EMPTY, NOT_READABLE, TOO_LARGE
from bot.frontend.control import UNDO_LATE, UNDO_NOT_LAST
from bot.frontend.hearing import seen
from bot.frontend.hearing.rooms import no_thread
from bot.frontend.own import forgetting, listing, purges, retention
from bot.frontend.own.forgetting import NOT_ALL, NOTHING, Scope
from bot.frontend.own.listing import NOTHING as NO_CONVERSATIONS
from bot.frontend.own.pruning import Pruning
from bot.frontend.own.purges import PURGE_DUE
from bot.frontend.refusals import UnavailableError
from bot.frontend.shards import Shards
from bot.sandbox import Answer, Overwrite, Person, Place
from bot.sandbox.answers.answers import first_response
from bot.sandbox.gestures.gestures import click
from bot.sessions import SQLiteSessionManager
from bot.sessions.stores.lifetimes import Lifetime
from bot.sessions.stores.marks import MarkStore
from tests.e2e.stage import PATIENCE, Stage
from tests.setups import labels


def bytes_of(database: Path) -> bytes:
    files = [database, *(database.with_name(database.name + end) for end in ("-wal", "-shm"))]
    return b"".join(each.read_bytes() for each in files if each.exists())


async def forgets(person: Person, scope: Scope, place: Place) -> Answer:
    """Ask to forget, and confirm; return what came of it."""
    asked = await person.runs("/forget", in_=place, what=scope.value)
    assert asked.ephemeral
    assert asked.message is not None
    return await person.clicks(asked.message, "Forget")


async def test_ones_own_messages_are_forgotten_on_disk_and_for_the_model(stage: Stage) -> None:
    stage.model.says("Hello zanzibar.").then("Hello Bob.").then("Fine.")
    session_id = f"channel-{stage.desk.id}"
    async with stage.running():
        await stage.alice.says("I am zanzibar", in_=stage.desk)
        await stage.says(stage.desk, "Hello zanzibar.")
        await stage.bob.says("I am Bob", in_=stage.desk)
        await stage.says(stage.desk, "Hello Bob.")
        assert b"zanzibar" in bytes_of(stage.database)
        done = await forgets(stage.alice, Scope.MINE, stage.desk)
        assert done.text.startswith("Forgotten.")
        assert b"zanzibar" not in bytes_of(stage.database)
        again = await stage.alice.runs("/forget", in_=stage.desk, what="mine")
        assert again.text == NOTHING
        await stage.bob.says("go on", in_=stage.desk)
        await stage.says(stage.desk, "Fine.")
    assert "zanzibar" not in str(stage.asked[-1])
    assert "I am Bob" in str(stage.asked[-1])
    assert stage.said(stage.desk) == ["Hello zanzibar.", "Hello Bob.", "Fine."]
    log = await stage.log_of(session_id)
    assert [type(each) for each in log][:3] == [ErasedEvent, ErasedEvent, UserMessageEvent]
    assert b"zanzibar" not in bytes_of(stage.database)


async def test_what_is_forgotten_is_not_shown_or_answered_anew(stage: Stage) -> None:
    stage.model.says("Hello.")
    async with stage.running():
        await stage.alice.says("I am Alice", in_=stage.desk)
        hello = await stage.says(stage.desk, "Hello.")
        await forgets(stage.alice, Scope.HERE, stage.desk)
    written = stage.written
    async with stage.running() as client:
        await client._parts.retention.look()
        late = await stage.alice.clicks(hello, "Try again")
        assert late.text == "Something was said since: this works only under the latest answer."
    assert stage.written == written
    assert len(stage.model.requests) == 1


async def test_an_open_request_is_cancelled_before_it_is_forgotten(stage: Stage) -> None:
    stage.model.says(calls=[("delete_file", {"path": "zanzibar.txt"})]).then("Hello Bob.")
    async with stage.running():
        await stage.alice.says("delete zanzibar.txt", in_=stage.desk)
        card = await stage.says(stage.desk, "May I run")
        approval_id = card.buttons[0]["custom_id"].partition(":")[2]
        await stage.bob.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "This waits for a decision")
        await forgets(stage.alice, Scope.MINE, stage.desk)
        await stage.says(stage.desk, "Hello Bob.")
        late = await stage.mod.runs("/approve", in_=stage.desk, request=approval_id)
        assert late.text == "I know of no such request here."
    assert "Withdrawn" in card.content
    assert labels(card) == []
    assert stage.tools.done == []
    assert b"zanzibar" not in bytes_of(stage.database)


async def test_the_whole_conversation_is_for_who_wrote_alone_and_for_moderators(
    stage: Stage,
) -> None:
    stage.model.says("One.").then("Two.")
    async with stage.running():
        await stage.alice.says("zanzibar", in_=stage.desk)
        await stage.says(stage.desk, "One.")
        asked = await stage.alice.runs("/forget", in_=stage.desk, what="here")
        assert asked.message is not None
        await stage.bob.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Two.")
        late = await stage.alice.clicks(asked.message, "Forget")
        assert late.text == NOT_ALL  # the click is looked at again
        done = await forgets(stage.mod, Scope.HERE, stage.desk)
        assert done.text.startswith("Forgotten.")
    log = await stage.log_of(f"channel-{stage.desk.id}")
    assert all(isinstance(each, ErasedEvent) for each in log)


async def test_everything_about_somebody_is_forgotten_wherever_it_is(stage: Stage) -> None:
    stage.model.says("One.").then("Two.").then("Three.")
    dm = stage.world.direct(stage.alice, stage.bot)
    async with stage.running():
        await stage.alice.says("zanzibar one", in_=stage.desk)
        await stage.says(stage.desk, "One.")
        await stage.alice.says("zanzibar two", in_=dm)
        await stage.says(dm, "Two.")
        await stage.bob.says("zebra", in_=stage.desk)
        await stage.says(stage.desk, "Three.")
    async with stage.running():  # the question outlives a restart
        asked = await stage.alice.runs("/forget", in_=dm, what="everything")
        assert asked.message is not None
    async with stage.running():
        done = await stage.alice.clicks(asked.message, "Forget")
        assert done.text.startswith("Forgotten.")
        assert await stage.store.written_by(f"user-{stage.alice.id}") == []
        session = await stage.store.get(f"dm-{dm.id}")
        assert session is not None
        assert session.user_id is None
        listed = await stage.alice.runs("/sessions", in_=dm)
        assert listed.text == NO_CONVERSATIONS
    left = bytes_of(stage.database)
    assert b"zanzibar" not in left
    assert b"zebra" in left


async def test_everything_is_forgotten_also_where_somebody_writes_meanwhile(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetting, "PAGE", 1)
    stage.model.says("One.").then("Two.").then("Three.")
    dm = stage.world.direct(stage.alice, stage.bot)
    async with stage.running() as client:
        await stage.alice.says("zanzibar", in_=dm)
        await stage.says(dm, "One.")
        await stage.alice.says("zanzibar", in_=stage.desk)
        await stage.says(stage.desk, "Two.")
        end, ends = client.agent.end, itertools.count()

        async def meanwhile(*args: Any, **options: Any) -> bool:
            if not next(ends):
                await stage.alice.says("still here", in_=dm)
                await stage.says(dm, "Three.")
            return await end(*args, **options)

        monkeypatch.setattr(client.agent, "end", meanwhile)
        done = await forgets(stage.alice, Scope.EVERYTHING, stage.desk)
        assert done.text.startswith("Forgotten.")
    assert b"zanzibar" not in bytes_of(stage.database)


async def test_what_cannot_be_purged_now_is_purged_later(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.model.says("zanzibar.")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "zanzibar.")

        async def full() -> None:
            raise StorageError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(stage.store, "purge", full)
            done = await forgets(stage.alice, Scope.MINE, stage.desk)
        assert done.text.endswith("overwritten within the hour.")
        assert await MarkStore(stage.store.database).get(PURGE_DUE)
    async with stage.running() as client:
        await client._parts.retention.look()
        assert await MarkStore(stage.store.database).get(PURGE_DUE) == ""
    assert b"zanzibar" not in bytes_of(stage.database)


async def test_who_forgets_again_and_again_does_not_stop_all_writes(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purges, "LONG", 0.0)
    monkeypatch.setattr(purges, "RESTS", 10**6)
    stage.model.says("First.").then("Second.")
    dm = stage.world.direct(stage.alice, stage.bot)
    async with stage.running() as client:
        for said, told in (("First.", "there."), ("Second.", "overwritten within the hour.")):
            await stage.alice.says("zanzibar", in_=dm)
            await stage.says(dm, said)
            done = await forgets(stage.alice, Scope.EVERYTHING, dm)
            assert done.text.endswith(told)
        marks = MarkStore(stage.store.database)
        assert await marks.get(PURGE_DUE)
        await client._parts.retention.look()
        assert await marks.get(PURGE_DUE) == ""
    assert b"zanzibar" not in bytes_of(stage.database)


async def test_a_purge_that_another_process_owes_meanwhile_is_not_put_off(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is owed at once just after this process has looked, and wants it within a day."""
    async with stage.running() as client:
        at_once = f"{utc_now().isoformat()} purge"
        get, looks = MarkStore.get, itertools.count()

        async def overtaken(marks: MarkStore, key: str) -> str | None:
            found = await get(marks, key)
            if not next(looks):
                await marks.set(key, at_once)
            return found

        monkeypatch.setattr(MarkStore, "get", overtaken)
        await client._parts.purges.owe_within_a_day()
        due = await MarkStore(stage.store.database).get(PURGE_DUE)
        assert due
        assert due.split()[0] == at_once.split()[0]


async def test_what_is_forgotten_is_told_so_though_its_purge_cannot_be_owed_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.model.says("Hello.")
    async with stage.running():
        await stage.alice.says("zanzibar", in_=stage.desk)
        await stage.says(stage.desk, "Hello.")
        keep, kept = MarkStore.set, itertools.count()

        async def full(marks: MarkStore, key: str, value: str) -> None:
            if key == PURGE_DUE and next(kept):
                raise StorageError("the disk is full")
            await keep(marks, key, value)

        monkeypatch.setattr(MarkStore, "set", full)
        done = await forgets(stage.alice, Scope.MINE, stage.desk)
        assert done.text.endswith("overwritten within the hour.")


async def test_what_somebody_wrote_elsewhere_than_in_discord_is_forgotten_too(
    stage: Stage,
) -> None:
    dm = stage.world.direct(stage.alice, stage.bot)
    async with stage.running() as client:
        session = await stage.store.create("another-door")
        author = Author(user_id=f"user-{stage.alice.id}")
        session.append(UserMessageEvent(text="zanzibar", author=author))
        await stage.store.save(session)
        listed = await stage.alice.runs("/sessions", in_=dm)
        assert listed.text == NO_CONVERSATIONS
        done = await forgets(stage.alice, Scope.EVERYTHING, dm)
        assert done.text.startswith("Forgotten.")
        assert await client.agent.pending("another-door") == []
    assert b"zanzibar" not in bytes_of(stage.database)


@pytest.mark.parametrize("scope", [Scope.MINE, Scope.EVERYTHING])
async def test_what_others_quote_in_their_replies_is_forgotten_too(
    stage: Stage, scope: Scope
) -> None:
    stage.model.says("I see.").then("Fine.")
    async with stage.running():
        overheard = await stage.alice.says("I am zanzibar", in_=stage.general)
        opening = await stage.bob.says(
            f"{stage.bot.mention} who is that?", in_=stage.general, reply_to=overheard
        )
        thread = await stage.thread_on(opening)
        await stage.says(thread, "I see.")
        assert "zanzibar" in str(stage.asked[0])
        done = await forgets(stage.alice, scope, thread)
        assert done.text.startswith("Forgotten.")
        assert b"zanzibar" not in bytes_of(stage.database)
        await stage.bob.says("go on", in_=thread)
        await stage.says(thread, "Fine.")
        again = await stage.alice.runs("/forget", in_=thread, what="mine")
        assert again.text == NOTHING
    assert "who is that?" in str(stage.asked[1])
    assert "zanzibar" not in str(stage.asked[1])


@pytest.mark.parametrize("scope", [Scope.MINE, Scope.HERE])
async def test_what_others_write_while_it_is_forgotten_is_answered_and_stays(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, scope: Scope
) -> None:
    stage.model.says("Hello zanzibar.").then("Hello Bob.")
    async with stage.running() as client:
        await stage.alice.says("I am zanzibar", in_=stage.desk)
        await stage.says(stage.desk, "Hello zanzibar.")
        end = client.agent.end

        async def meanwhile(*args: Any, **options: Any) -> bool:
            ended = await end(*args, **options)
            await stage.bob.says("I am Bob", in_=stage.desk)
            await stage.says(stage.desk, "Hello Bob.")
            return ended

        monkeypatch.setattr(client.agent, "end", meanwhile)
        done = await forgets(stage.alice, scope, stage.desk)
        assert done.text.startswith("Forgotten.")
    log = await stage.log_of(f"channel-{stage.desk.id}")
    assert [isinstance(each, ErasedEvent) for each in log] == [True, True, False, False]
    assert b"zanzibar" not in bytes_of(stage.database)


async def test_what_waits_behind_a_turn_that_cannot_be_forgotten_is_answered(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.model.says(calls=[("delete_file", {"path": "a.txt"})]).then("Hello Bob.")
    async with stage.running():
        await stage.alice.says("delete a.txt", in_=stage.desk)
        await stage.says(stage.desk, "May I run")
        await stage.bob.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "This waits for a decision")

        async def full(*_: object) -> None:
            raise StorageError("the disk is full")

        monkeypatch.setattr(stage.store, "erase", full)
        done = await forgets(stage.alice, Scope.MINE, stage.desk)
        assert not done.text.startswith("Forgotten.")
        await stage.says(stage.desk, "Hello Bob.")


# -- /sessions -------------------------------------------------------------------------------------


async def test_conversations_are_listed_in_pages_for_those_who_still_see_them(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGE", 2)
    stage.model.says("A.").then("B.").then("C.").then("D.")
    secret = stage.guild.channel("secret")
    dm = stage.world.direct(stage.alice, stage.bot)
    hello = f"{stage.bot.mention} hello"
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "A.")
        private = await stage.alice.opens_thread("private", in_=secret, private=True)
        await stage.alice.adds(stage.bot, to=private)
        await stage.alice.says(hello, in_=private)
        await stage.says(private, "B.")
        question = await stage.alice.says(hello, in_=stage.general)
        thread = await stage.thread_on(question)
        await stage.says(thread, "C.")
        await stage.alice.says("hello", in_=dm)
        await stage.says(dm, "D.")
        first = await stage.alice.runs("/sessions", in_=dm)
        assert first.text.splitlines()[0].startswith(
            f"- https://discord.com/channels/@me/{dm.id}: "
        )
        assert f"channels/{stage.guild.id}/{thread.id}: 1 message of yours" in first.text
        assert first.message is not None
        second = await stage.alice.clicks(first.message, "More")
        assert f"/{private.id}: " in second.text
        assert f"/{stage.desk.id}: " in second.text
        others = await stage.bob.runs("/sessions", in_=stage.desk)
        assert others.text == NO_CONVERSATIONS
        secret.overwrites[stage.alice] = Overwrite.of(deny=["VIEW_CHANNEL"])
        second = await stage.alice.clicks(first.message, "More")
        assert f"/{private.id}: " not in second.text
        assert f"/{stage.desk.id}: " in second.text
        stage.guild.leave(stage.alice)
        gone = await stage.alice.runs("/sessions", in_=dm)
        assert gone.text.count("https://") == 1


# -- /export ---------------------------------------------------------------------------------------


async def test_a_conversation_is_exported_whole(stage: Stage) -> None:
    stage.model.says("Hello *Alice*.").says(calls=[("read_clock", {})]).then("It is noon.")
    async with stage.running():
        nothing = await stage.alice.runs("/export", in_=stage.desk)
        assert nothing.text == EMPTY
        await stage.alice.says("I am Alice", in_=stage.desk)
        await stage.says(stage.desk, "Hello")
        await stage.alice.runs("/reset", in_=stage.desk)
        await stage.alice.says("what time?", in_=stage.desk)
        await stage.says(stage.desk, "It is noon.")
        text = (await file_of(await stage.bob.runs("/export", in_=stage.desk))).decode()
        data = await file_of(await stage.bob.runs("/export", in_=stage.desk, format="json"))
    for part in ("### alice, ", "I am Alice", "Hello *Alice*.", "began the conversation anew",
                 "*Called read_clock:*", "> noon", "It is noon."):  # fmt: skip
        assert part in text
    told = json.loads(data)
    assert [each["kind"] for each in told][:3] == ["user_message", "assistant_message", "reset"]
    assert "holder" not in data.decode()
    assert "extra" not in data.decode()


async def file_of(answer: Answer) -> bytes:
    assert answer.ephemeral
    assert answer.message is not None
    [file] = answer.message.attachments
    return file.data


async def test_an_export_is_for_who_may_read_here_and_for_files_that_fit(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.model.says("Hello.")
    async with stage.running():
        await stage.alice.says("hi", in_=stage.desk)
        await stage.says(stage.desk, "Hello.")
        stage.desk.overwrites[stage.bob] = Overwrite.of(deny=["READ_MESSAGE_HISTORY"])
        refused = await stage.bob.runs("/export", in_=stage.desk)
        assert refused.text == NOT_READABLE
        monkeypatch.setattr(discord.Guild, "filesize_limit", 10)
        large = await stage.alice.runs("/export", in_=stage.desk)
        assert large.text == TOO_LARGE.format(0)


# -- a reset that forgives -------------------------------------------------------------------------


async def test_a_reset_can_be_undone_by_who_may_reset(stage: Stage) -> None:
    stage.model.says("Hello Alice.").then("You are Alice.")
    async with stage.running():
        await stage.alice.says("I am Alice", in_=stage.desk)
        await stage.says(stage.desk, "Hello Alice.")
        await stage.alice.runs("/reset", in_=stage.desk)
        notice = await stage.says(stage.desk, "began the conversation anew")
        await first_response(click(stage.bob, notice, "Undo"))
        await stage.says(stage.desk, "undid the reset")
        again = await stage.alice.clicks(notice, "Undo")
        assert again.text == UNDO_NOT_LAST
        await stage.alice.says("who am I?", in_=stage.desk)
        await stage.says(stage.desk, "You are Alice.")
    assert "I am Alice" in str(stage.asked[-1])


async def test_a_reset_is_undone_for_ten_minutes(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.model.says("Hello Alice.")
    async with stage.running():
        await stage.alice.says("I am Alice", in_=stage.desk)
        await stage.says(stage.desk, "Hello Alice.")
        await stage.alice.runs("/reset", in_=stage.desk)
        notice = await stage.says(stage.desk, "began the conversation anew")
        monkeypatch.setattr(endings, "UNDO_WITHIN", timedelta(0))
        late = await stage.alice.clicks(notice, "Undo")
        assert late.text == UNDO_LATE


# -- what is over, and what is gone ----------------------------------------------------------------


async def test_what_is_over_is_deleted_and_nobody_is_told(stage: Stage) -> None:
    stage.model.says("zanzibar.").says(calls=[("delete_file", {"path": "x"})])
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "zanzibar.")
        question = await stage.alice.says(f"{stage.bot.mention} delete x", in_=stage.general)
        thread = await stage.thread_on(question)
        await stage.says(thread, "May I run")
    written = stage.written
    async with stage.running(lifetime=Lifetime(idle=timedelta(0))) as client:
        await client._parts.retention.look()
        assert await stage.store.get(f"channel-{stage.desk.id}") is None
        assert await stage.store.get(f"thread-{thread.id}") is not None  # it waits
    assert stage.written == written


async def test_what_is_over_is_purged_within_a_day(stage: Stage) -> None:
    stage.model.says("zanzibar.")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "zanzibar.")
    marks = MarkStore(stage.store.database)
    async with stage.running(lifetime=Lifetime(idle=timedelta(0))) as client:
        parts = client._parts
        await parts.retention.look()
        due = await marks.get(PURGE_DUE)
        await parts.retention.look()
        assert due
        assert await marks.get(PURGE_DUE) == due  # it is not put off
        parts.purges.now = lambda: utc_now() + timedelta(days=1)
        await parts.retention.look()
        assert await marks.get(PURGE_DUE) == ""
    assert b"zanzibar" not in bytes_of(stage.database)


async def test_what_is_over_is_purged_though_the_look_that_deleted_it_was_cut_short(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.model.says("zanzibar.")
    async with stage.running():
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "zanzibar.")

    async def full(*_: object) -> None:
        raise StorageError("the disk is full")

    async with stage.running(lifetime=Lifetime(idle=timedelta(0))) as client:
        monkeypatch.setattr(stage.store, "drop_blobs", full)
        with pytest.raises(StorageError):
            await client._parts.retention.look()
        assert await stage.store.get(f"channel-{stage.desk.id}") is None
        assert await MarkStore(stage.store.database).get(PURGE_DUE)


async def test_what_is_deleted_during_a_purge_is_left_to_another(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage.running() as client:
        at_work, marks = client._parts.purges, MarkStore(stage.store.database)
        await at_work.owe_within_a_day()
        monkeypatch.setattr(stage.store, "purge", at_work.owe_within_a_day)
        assert await at_work.purge()
        assert await marks.get(PURGE_DUE)


async def test_what_is_forgotten_is_purged_though_discord_does_not_answer(stage: Stage) -> None:
    stage.model.says("Hello.")
    async with stage.running() as client:
        question = await stage.alice.says(f"{stage.bot.mention} hello", in_=stage.general)
        thread = await stage.thread_on(question)
        await stage.says(thread, "Hello.")
        marks = MarkStore(stage.store.database)
        await marks.set(PURGE_DUE, f"{utc_now().isoformat()} purge")
        stage.world.faults.next_request("GET", f"/channels/{thread.id}", fails=503, times=None)
        with pytest.raises(UnavailableError):
            await client._parts.retention.look()
        assert await marks.get(PURGE_DUE) == ""


async def is_gone(store: SQLiteSessionManager, session_id: str) -> None:
    """Wait until a session is deleted."""
    async with asyncio.timeout(PATIENCE):
        while await store.get(session_id) is not None:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)


async def talks_everywhere(stage: Stage) -> list[str]:
    """Talk in a channel and in a thread; return the sessions."""
    stage.guild.grant(stage.bot, "MANAGE_CHANNELS", "MANAGE_THREADS")
    await stage.alice.says("hello", in_=stage.desk)
    await stage.says(stage.desk, "Hello.")
    question = await stage.alice.says(f"{stage.bot.mention} hello", in_=stage.general)
    thread = await stage.thread_on(question)
    await stage.says(thread, "Hello.")
    return [f"channel-{stage.desk.id}", f"thread-{thread.id}"]


async def test_channels_and_threads_that_are_deleted_take_their_conversations_along(
    stage: Stage,
) -> None:
    stage.model.says("Hello.").then("Hello.")
    async with stage.running() as client:
        desk, thread = await talks_everywhere(stage)
        marks = MarkStore(stage.store.database)
        await marks.once(no_thread(stage.desk.id))
        for session_id in (thread, desk):
            channel = client.get_channel(int(session_id.partition("-")[2]))
            await channel.delete()  # type: ignore[union-attr]  # a channel of a server
            await is_gone(stage.store, session_id)
        assert await stage.store.sessions_after() == []
        assert await marks.get(no_thread(stage.desk.id)) is None


@pytest.mark.parametrize("parent", [True, False])
async def test_what_was_deleted_while_the_bot_was_away_goes_when_it_looks(
    stage: Stage, parent: bool
) -> None:
    stage.model.says("Hello.").then("Hello.")
    async with stage.running():
        desk, thread = await talks_everywhere(stage)
        await MarkStore(stage.store.database).once(no_thread(stage.desk.id))
    if parent:
        stage.guild.channels.remove(stage.desk)
        del stage.world.places[stage.desk.id]
    else:
        number = int(thread.partition("-")[2])
        [found] = [each for each in stage.general.threads if each.id == number]
        stage.general.threads.remove(found)
        del stage.world.places[number]
    async with stage.running():
        await is_gone(stage.store, desk if parent else thread)
        assert await stage.store.get(thread if parent else desk) is not None
        told = await MarkStore(stage.store.database).get(no_thread(stage.desk.id))
        assert (told is None) is parent


async def test_a_server_that_is_left_is_forgotten_and_one_with_an_outage_is_not(
    stage: Stage,
) -> None:
    stage.model.says("Hello.").then("Hello.")
    async with stage.running() as client:
        desk, thread = await talks_everywhere(stage)
        guild = client.get_guild(stage.guild.id)
        assert guild is not None
        guild.unavailable = True
        await client._parts.retention.look()
        guild.unavailable = False
        assert await stage.store.get(desk) is not None
        stage.guild.leave(stage.bot)
        await is_gone(stage.store, desk)
        await is_gone(stage.store, thread)


async def test_threads_are_asked_for_in_turns(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "THREADS", 1)
    stage.model.says("Hello.").then("Hello.")
    async with stage.running() as client:
        await talks_everywhere(stage)
        marks, found = MarkStore(stage.store.database), []
        for _ in range(4):
            await client._parts.retention.look()
            found.append(await marks.get(f"looked-at-{stage.guild.id}"))
        assert sorted(map(str, set(found))) == sorted(
            ["None", *(each.session_id for each in await stage.store.sessions_after())]
        )


async def test_a_server_that_was_left_meanwhile_is_forgotten(stage: Stage) -> None:
    stage.model.says("Hello.").then("Hello.")
    async with stage.running():
        desk, thread = await talks_everywhere(stage)
        for key in (no_thread(stage.desk.id), f"looked-at-{stage.guild.id}"):
            await MarkStore(stage.store.database).once(key)
    stage.guild.leave(stage.bot)
    async with stage.running():
        await is_gone(stage.store, desk)
        await is_gone(stage.store, thread)
        kept = await stage.store.database.fetch("SELECT key FROM marks")
        assert not [key for (key,) in kept if key.startswith(("no-thread-", "looked-at-"))]


async def test_servers_of_other_shards_are_left_to_those(stage: Stage) -> None:
    stage.model.says("Hello.").then("Hello.")
    async with stage.running():
        await talks_everywhere(stage)
    elsewhere = Shards(2, frozenset({1 - (stage.guild.id >> 22) % 2}))
    before = len(stage.world.requests)
    async with stage.running(shards=elsewhere) as client:
        await client._parts.retention.look()
    asked = [each.path for each in stage.world.requests[before:]]
    assert asked
    assert not any(str(stage.guild.id) in path for path in asked)


async def test_a_server_that_an_application_never_was_in_was_not_left(stage: Stage) -> None:
    stage.model.says("Hello.").then("Hello.")
    async with stage.running():
        desk, thread = await talks_everywhere(stage)
    other = replace(stage, bot=stage.world.bot("Other"))
    applications = Stores.beside(stage.store).applications
    await applications.adopt(other.bot.application_id)
    async with other.running() as client:
        await client._parts.retention.look()
        assert {each.session_id for each in await other.store.sessions_after()} == {desk, thread}
    stage.guild.join(other.bot)
    async with other.running() as client:
        await client._parts.retention.look()  # now it was seen there
    stage.guild.leave(other.bot)
    async with other.running():
        await is_gone(other.store, desk)
        await is_gone(other.store, thread)


async def test_a_bot_whose_database_another_application_was_given_deletes_nothing_more(
    stage: Stage,
) -> None:
    stage.model.says("Hello.").then("Hello.")
    async with stage.running(lifetime=Lifetime(idle=timedelta(0))) as client:
        desk, _ = await talks_everywhere(stage)
        await Stores.beside(stage.store).applications.adopt(5)
        with pytest.raises(OtherApplicationError):
            await client._parts.retention.look()
        with pytest.raises(OtherApplicationError):
            await client._parts.retention.server_gone(stage.guild.id)
        assert await stage.store.get(desk) is not None


# -- what is noted of old messages -----------------------------------------------------------------


async def test_old_messages_of_which_nothing_is_noted_any_more_stay_as_they_are(
    stage: Stage,
) -> None:
    stage.model.says("Five.").then("Four.").then("Indeed.")
    async with stage.running() as client:
        await stage.alice.says("two and two?", in_=stage.desk)
        five = await stage.says(stage.desk, "Five.")
        session_id = f"channel-{stage.desk.id}"
        await client._parts.reconciler.caught_up(session_id)
        stores = Stores.beside(stage.store)
        await Pruning(stores.deliveries, stores.places).prune(utc_now() + timedelta(days=100))
        assert await stores.deliveries.of(session_id) == []
        assert set(await stores.places.all()) == {0}
    written = stage.written
    async with stage.running() as client:
        await client._parts.retention.look()
        assert stage.written == written
        await first_response(click(stage.alice, five, "Try again"))
        four = await stage.says(stage.desk, "Four.")
        await stage.alice.says("are you sure?", in_=stage.desk, reply_to=five)
        await stage.says(stage.desk, "Indeed.")
    assert stage.said(stage.desk) == ["Five.", "Four.", "Indeed."]
    assert four.id != five.id
    assert "Five." in stage.asked[-1][-1][1]


async def test_what_was_deleted_of_a_quiet_thread_is_not_read_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.model.says("Hello.").then("I see.").then("Welcome back.")
    async with stage.running():
        question = await stage.alice.says(f"{stage.bot.mention} hi", in_=stage.general)
        thread = await stage.thread_on(question)
        await stage.says(thread, "Hello.")
        await stage.alice.says("zanzibar", in_=thread)
        await stage.says(thread, "I see.")
    await stage.store.delete(f"thread-{thread.id}")
    stores = Stores.beside(stage.store)
    await Pruning(stores.deliveries, stores.places).prune(utc_now() + timedelta(days=100))
    monkeypatch.setattr(seen, "QUIET", timedelta(0))
    async with stage.running(catch_up_window=timedelta(0)):
        await stage.alice.says("I am back", in_=thread)
        await stage.says(thread, "Welcome back.")
    assert "zanzibar" not in str(await stage.log_of(f"thread-{thread.id}"))
    assert stage.said(thread) == ["Hello.", "I see.", "Welcome back."]


async def test_notes_of_messages_of_today_are_kept(stage: Stage) -> None:
    stage.model.says("Hello.")
    async with stage.running() as client:
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Hello.")
        await client._parts.retention.look()
        assert await Stores.beside(stage.store).deliveries.of(f"channel-{stage.desk.id}") != []
