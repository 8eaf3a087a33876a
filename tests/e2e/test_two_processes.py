"""Two processes of the bot on one shard and one database, here as two clients."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import discord
import pytest

from bot.agent import Actor, tool
from bot.agent.loop import heeding
from bot.errors import StorageError
from bot.events import RecordedEvent, ToolResultEvent
from bot.frontend import ParleyClient
from bot.frontend.commands.settings import desk
from bot.frontend.commands.settings.desk import LATE
from bot.frontend.commands.settings.forms import PromptForm
from bot.frontend.hearing.inbox import EMPTY
from bot.frontend.rate import TOO_FAST
from bot.frontend.recovery.recovery import Recovery
from bot.frontend.showing.draft import using
from bot.sessions import Lease, PostgresSessionManager, Session
from tests.e2e.stage import PATIENCE, Stage, logged, parley
from tests.postgres import Server
from tests.setups import labels


@pytest.fixture(autouse=True)
def _attentive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs look soon for what the other process has recorded."""
    monkeypatch.setattr(heeding, "HEED_EVERY", 0.05)


@asynccontextmanager
async def process(
    stage: Stage, store: PostgresSessionManager, **limits: Any
) -> AsyncIterator[ParleyClient]:
    """Run the bot while the block lasts; those begun later end first."""
    options = replace(stage.options, rescue_every=0.05, identify_pause=0.0)
    client = parley(
        store=store,
        model_url=stage.service.base_url,
        tools=stage.tools,
        options=options,
        **limits,
    )
    async with AsyncExitStack() as stack:
        stack.push_async_callback(client.agent.close)
        await stack.enter_async_context(client)
        task = asyncio.create_task(client.start(stage.bot.token))
        stack.push_async_callback(Stage._ended, client, task)
        await client.wait_until_ready()
        yield client


class Stumbling(PostgresSessionManager):
    """Cannot be read the first time that somebody looks for what was abandoned."""

    stumbled = False

    async def abandoned(self) -> Sequence[str]:
        if not self.stumbled:
            self.stumbled = True
            raise StorageError("the database is away for a moment")
        return await super().abandoned()


@pytest.fixture
def stores(postgres: Server) -> list[PostgresSessionManager]:
    """The sessions of each of two processes."""
    url = postgres.new_database()
    return [PostgresSessionManager(url), Stumbling(url)]


async def test_what_both_hear_one_answers(
    stage: Stage, stores: list[PostgresSessionManager]
) -> None:
    async with process(stage, stores[0]), process(stage, stores[1]):
        for number in range(3):
            stage.model.says(f"Answer {number}.")
            await stage.alice.says(f"question {number}", in_=stage.desk)
            await stage.says(stage.desk, f"Answer {number}.")
    assert stage.said(stage.desk) == [f"Answer {number}." for number in range(3)]
    assert len(stage.model.requests) == 3


async def test_what_both_do_not_answer_is_said_once(
    stage: Stage, stores: list[PostgresSessionManager]
) -> None:
    stage.options = replace(stage.options, turns_per_minute=1)
    stage.model.says("Hello.")
    async with process(stage, stores[0]) as first, process(stage, stores[1]) as second:
        await stage.alice.says(f"<@{stage.bot.id}>", in_=stage.desk)
        await stage.bob.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Hello.")
        await stage.bob.says("hello again", in_=stage.desk)
        await stage.says(stage.desk, TOO_FAST)
        for each in (first, second):
            assert await each._parts.work.finish(PATIENCE)
    assert sorted(stage.said(stage.desk)) == sorted([EMPTY, "Hello.", TOO_FAST])


async def test_a_click_that_both_hear_counts_once(
    stage: Stage, stores: list[PostgresSessionManager]
) -> None:
    async with process(stage, stores[0]), process(stage, stores[1]):
        stage.model.says(calls=[("delete_file", {"path": "a.txt"})]).then("Gone.")
        await stage.alice.says("delete a.txt", in_=stage.desk)
        await stage.desk.until(
            lambda messages: any("Approve" in labels(each) for each in messages), PATIENCE
        )
        card = next(each for each in stage.desk.messages if "Approve" in labels(each))
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "Gone.")
    assert len(stage.tools.done) == 1


async def test_what_one_acknowledges_the_other_leaves_to_it_without_a_warning(
    stage: Stage, stores: list[PostgresSessionManager], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "bot.frontend.commands")
    async with process(stage, stores[0]), process(stage, stores[1]):
        stage.model.says(calls=[("delete_file", {"path": "a.txt"})])
        await stage.alice.says("delete a.txt", in_=stage.desk)
        await stage.desk.until(
            lambda messages: any("Approve" in labels(each) for each in messages), PATIENCE
        )
        card = next(each for each in stage.desk.messages if "Approve" in labels(each))
        more = (await stage.mod.clicks(card, "More…")).message
        await left_alone(caplog, 1)
        assert more is not None
        await stage.mod.clicks(more, "Deny with a reason…")
        await left_alone(caplog, 2)
        await stage.mod.runs("/persona add", in_=stage.desk, name="pirate")
        await left_alone(caplog, 3)
        await stage.mod.completes("/persona use", in_=stage.desk, option="name")
        await stage.mod.runs("/approvals", in_=stage.desk)
        await left_alone(caplog, 4)
    about = ("bot.frontend.commands", "bot.agent.loop.failures", "discord.app_commands")
    loud = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert [each.getMessage() for each in loud if each.name.startswith(about)] == []


async def left_alone(caplog: pytest.LogCaptureFixture, times: int) -> None:
    """Return once a process has left so many interactions to the other."""
    await logged(caplog, "is left to the process that has acknowledged it", times)


async def test_what_one_is_at_when_it_dies_the_other_goes_on_with(
    stage: Stage, stores: list[PostgresSessionManager]
) -> None:
    async with process(stage, stores[0]) as first:
        stage.model.pauses("Let me see.", then=" Never said.")
        await stage.alice.says("two and two?", in_=stage.desk)
        await stage.desk.until(
            lambda messages: any("Let me see." in each.content for each in messages), PATIENCE
        )
        async with process(stage, stores[1]):
            stage.model.says("Four.")
            await stage.kill(first)
            await first._parts.reading.cancel()  # it would connect again, and live
            await stores[0].database.close()  # the connection ends with the process
            await stage.says(stage.desk, "Four.")
    assert stage.said(stage.desk) == ["Four."]


async def test_a_stop_that_the_other_records_stops_the_stream(
    stage: Stage, stores: list[PostgresSessionManager]
) -> None:
    async with process(stage, stores[0]):
        stage.model.pauses("Let me see.", then=" Never said.")
        await stage.alice.says("two and two?", in_=stage.desk)
        await stage.desk.until(
            lambda messages: any("Let me see." in each.content for each in messages), PATIENCE
        )
        async with process(stage, stores[1]) as second:
            session_id = f"channel-{stage.desk.id}"
            assert await second.agent.stop(session_id, by=f"user-{stage.alice.id}")
            await stage.says(stage.desk, "Stopped.")
    assert stage.said(stage.desk) == ["Let me see.", "Stopped."]
    assert "Stop" not in [label for each in stage.desk.messages for label in labels(each)]


async def test_what_one_left_beside_a_request_the_other_settles_before_anybody_decides(
    stage: Stage, stores: list[PostgresSessionManager], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, recovered, told = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @tool
    async def endless() -> str:
        begun.set()
        await asyncio.Event().wait()
        return "never"

    def note(session_id: str, events: Sequence[RecordedEvent]) -> None:
        if any(isinstance(event, ToolResultEvent) for event in events):
            told.set()

    recover = Recovery.recover

    async def noted(recovery: Recovery) -> None:
        await recover(recovery)
        recovered.set()

    monkeypatch.setattr(Recovery, "recover", noted)
    stage.tools.more = [endless]
    stage.model.says(calls=[("delete_file", {"path": "a.txt"}), ("endless", {})])
    async with process(stage, stores[0]) as first:
        await stage.alice.says("delete a.txt", in_=stage.desk)
        await begun.wait()
        recovered.clear()
        async with process(stage, stores[1]) as second:
            second.agent.watch(note)
            await recovered.wait()  # and this was left to the first
            await stage.kill(first)
            await first._parts.reading.cancel()
            await stores[0].database.close()
            async with asyncio.timeout(PATIENCE):
                await told.wait()
            session = await stores[1].get(f"channel-{stage.desk.id}")
            assert session is not None
            assert session.waits


async def test_a_reminder_that_is_due_in_both_is_said_once(
    stage: Stage, stores: list[PostgresSessionManager]
) -> None:
    now = datetime(2026, 11, 27, 15, 0, tzinfo=UTC)
    stage.options = replace(stage.options, clock=lambda: now)
    async with process(stage, stores[0]) as first, process(stage, stores[1]) as second:
        told = await stage.alice.runs("/remind", in_=stage.desk, when="in 5 minutes", text="tea")
        assert told.text.startswith("I will remind you")
        now += timedelta(minutes=5)
        for each in (first, second):
            each._parts.reminders.wake()
        await stage.says(stage.desk, "tea")
        for each in (first, second):
            assert await each._parts.work.finish(PATIENCE)
    assert len(stage.said(stage.desk)) == 1


class Hesitant(PostgresSessionManager):
    """Takes no lease before it may."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.may_run = asyncio.Event()

    async def lease(self, session_id: str, holder: str) -> Lease:
        await self.may_run.wait()
        return await super().lease(session_id, holder)


async def test_what_one_has_begun_to_show_the_other_shows_to_its_end(
    stage: Stage, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody runs the turn for a moment, and just then the first looks what there is to show."""
    url, session_id = postgres.new_database(), f"channel-{stage.desk.id}"
    ours, theirs, at_work = PostgresSessionManager(url), Hesitant(url), using(["long_job"])
    stage.model.says(calls=[("long_job", {"name": "one"}), ("delete_file", {"path": "a.txt"})])
    async with process(stage, ours) as first:
        await stage.alice.says("do both", in_=stage.desk)
        await stage.desk.until(lambda messages: len(messages) == 3, PATIENCE)
        await stage.mod.clicks(stage.desk.messages[1], "Approve")
        await stage.desk.until(lambda messages: messages[-1].content == at_work, PATIENCE)
        may_look = held_back(first, monkeypatch)
        stage.tools.may_finish.set()
        await until(theirs, session_id, lambda session: session.waits)
        async with process(stage, theirs) as second:
            stage.model.says("Both done.")
            [request] = await second.agent.pending(session_id)
            mod = Actor(user_id=f"user-{stage.mod.id}", moderator=True)
            await second._parts.decisions.approve(session_id, request.approval_id, mod)
            await until(theirs, session_id, lambda session: not session.waits)
            may_look.set()
            await first._parts.reconciler.caught_up(session_id)
            theirs.may_run.set()
            await stage.says(stage.desk, "Both done.")


def held_back(client: ParleyClient, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Let a client show nothing before the event that is returned is set."""
    may_look, reconciler = asyncio.Event(), client._parts.reconciler
    go_on = reconciler._pass

    async def later(session_id: str) -> bool:
        await may_look.wait()
        return await go_on(session_id)

    monkeypatch.setattr(reconciler, "_pass", later)
    return may_look


async def until(
    store: PostgresSessionManager, session_id: str, holds: Callable[[Session], bool]
) -> None:
    """Return once something holds of a session."""
    async with asyncio.timeout(PATIENCE):
        while (session := await store.get(session_id)) is None or not holds(session):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_form_is_acted_on_by_the_process_that_has_opened_it(
    stage: Stage, stores: list[PostgresSessionManager], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the other, which knows nothing of it, hears of it first."""
    async with process(stage, stores[0]) as first, process(stage, stores[1]) as second:
        panel = (await stage.mod.runs("/settings", in_=stage.desk)).message
        assert panel is not None
        form = (await stage.mod.selects(panel, "What to change", ["System prompt"])).modal
        assert form is not None
        name = form.body["custom_id"]
        [other] = [each for each in (first, second) if name not in each.settings_desk._open]
        hears_first(monkeypatch, other)
        written = {"Prompt (empty: the default)": "Be brief.", "The operator's prompt": ["add"]}
        told = await stage.mod.submits(form, None, **written)
        assert LATE not in [each.content for each in told.messages]
        assert await first.settings.changes(stage.guild.id, 5)


def hears_first(monkeypatch: pytest.MonkeyPatch, client: ParleyClient) -> None:
    """Let a client hear of a form before the one that knows of it."""
    heard, acted = asyncio.Event(), asyncio.Event()
    late, submit = client.settings_desk.late, PromptForm.on_submit

    async def others_first() -> None:
        heard.set()
        await acted.wait()

    async def noted(interaction: discord.Interaction) -> None:
        await late(interaction)
        heard.set()

    async def second(form: PromptForm, interaction: discord.Interaction) -> None:
        await heard.wait()
        await submit(form, interaction)
        acted.set()

    monkeypatch.setattr(desk, "others_first", others_first)
    monkeypatch.setattr(client.settings_desk, "late", noted)
    monkeypatch.setattr(PromptForm, "on_submit", second)
