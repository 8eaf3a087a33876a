"""What one of two processes of the bot leaves to the other: it ends, or loses the database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.agent import Actor
from bot.errors import StorageError
from bot.events import AssistantMessageEvent
from bot.frontend import ParleyClient
from bot.frontend.recovery import comeback
from bot.frontend.recovery.recovery import Recovery
from bot.frontend.recovery.rescue import Rescue
from bot.frontend.refusals import UnavailableError
from bot.frontend.shards import Turnstile
from bot.frontend.showing import reconcile
from bot.sandbox import Message
from bot.sessions import PostgresSessionManager, Session
from tests.clocks import Clock
from tests.e2e.stage import PATIENCE, Stage, is_written
from tests.e2e.test_two_processes import held_back, process, until
from tests.postgres import Server
from tests.setups import labels

Stores = tuple[PostgresSessionManager, PostgresSessionManager]


@pytest.fixture
def stores(postgres: Server) -> Stores:
    """The sessions of each of two processes."""
    url = postgres.new_database()
    return PostgresSessionManager(url), PostgresSessionManager(url)


@pytest.fixture
def recovered(monkeypatch: pytest.MonkeyPatch) -> list[Recovery]:
    """Those who have gone through all that was open when they started."""
    done, recover = list[Recovery](), Recovery.recover

    async def noted(recovery: Recovery) -> None:
        await recover(recovery)
        done.append(recovery)

    monkeypatch.setattr(Recovery, "recover", noted)
    return done


async def both_started(recovered: Sequence[Recovery]) -> None:
    async with asyncio.timeout(PATIENCE):
        while len(recovered) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def ask(client: ParleyClient, session_id: str) -> None:
    """Ask something that the other process does not hear of, as a schedule does."""
    run = client.agent.run("delete a.txt", session_id, user_id="user-1")
    await client.control._runs.begin(session_id, run)


async def dies(stage: Stage, client: ParleyClient, store: PostgresSessionManager) -> None:
    await stage.kill(client)
    await client._parts.reading.cancel()  # it would connect again, and live
    await store.database.close()  # the connection ends with the process


def asking(messages: Sequence[Message]) -> list[Message]:
    return [each for each in messages if "Approve" in labels(each)]


async def test_what_one_had_no_time_to_show_the_other_shows(
    stage: Stage, stores: Stores, recovered: list[Recovery], monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = f"channel-{stage.desk.id}"
    async with process(stage, stores[0]) as first, process(stage, stores[1]):
        await both_started(recovered)
        held_back(first, monkeypatch)
        stage.model.says("Gone.")
        await ask(first, session_id)
        await until(stores[1], session_id, lambda session: not session.open_turns)
        await dies(stage, first, stores[0])
        await stage.says(stage.desk, "Gone.")


async def test_who_is_not_ready_yet_shows_nothing_in_the_wrong_place(
    stage: Stage, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which channels there are it hears when it is connected."""
    may_connect, enter = asyncio.Event(), Turnstile.enter
    stage.options = replace(stage.options, approvals_channel=stage.general.id)

    async def late(turnstile: Turnstile, bucket: str) -> None:
        await may_connect.wait()
        await enter(turnstile, bucket)

    async def follow() -> None:
        async with process(stage, stores[1]):
            await stage.general.until(lambda messages: bool(asking(messages)), PATIENCE)

    async with process(stage, stores[0]) as first:
        held_back(first, monkeypatch)
        monkeypatch.setattr(Turnstile, "enter", late)
        stage.model.says(calls=[("delete_file", {"path": "a.txt"})])
        await stage.alice.says("delete a.txt", in_=stage.desk)
        await until(stores[1], f"channel-{stage.desk.id}", lambda session: session.waits)
        asks, told = held_up(monkeypatch, may_connect)
        following = asyncio.create_task(follow())
        async with asyncio.timeout(PATIENCE):
            await asks.wait()
        await dies(stage, first, stores[0])
        may_connect.set()
        await following
    assert asking(stage.desk.messages) == []
    assert told == [True]


def held_up(
    monkeypatch: pytest.MonkeyPatch, may_connect: asyncio.Event
) -> tuple[asyncio.Event, list[bool]]:
    """Return what tells that who minds others asks for being ready, and whether it could be then.

    Before that it has seen who is at work, and has not looked for who has ended.
    """
    asks, told, look = asyncio.Event(), list[bool](), Rescue.keep_looking

    async def noted(rescue: Rescue) -> None:
        ready = rescue._ready

        async def waits() -> None:
            asks.set()
            await ready()
            told.append(may_connect.is_set())

        rescue._ready = waits
        await look(rescue)

    monkeypatch.setattr(Rescue, "keep_looking", noted)
    return asks, told


async def test_a_request_that_only_one_knew_of_expires_when_that_one_is_gone(
    stage: Stage, stores: Stores, recovered: list[Recovery], bots_clock: Clock
) -> None:
    session_id = f"channel-{stage.desk.id}"
    async with process(stage, stores[0]) as first, process(stage, stores[1]):
        await both_started(recovered)
        stage.model.says(calls=[("delete_file", {"path": "a.txt"})]).then("Not done.")
        await ask(first, session_id)
        await stage.desk.until(lambda messages: bool(asking(messages)), PATIENCE)
        await first._parts.reconciler.caught_up(session_id)
        await dies(stage, first, stores[0])
        bots_clock.advance(timedelta(days=1))
        await stage.says(stage.desk, "Not done.")
    assert asking(stage.desk.messages) == []


class Full(PostgresSessionManager):
    """Does not store the first answer that ends so."""

    refused: Session | None = None

    async def save(
        self, session: Session, *, release: str | None = None, rests: bool = False
    ) -> None:
        texts = (each.text for each in session.unsaved if isinstance(each, AssistantMessageEvent))
        if self.refused is None and "Second." in texts:
            self.refused = session
            raise StorageError("the disk is full")
        await super().save(session, release=release, rests=rests)


async def test_what_one_leaves_to_another_that_cannot_write_is_answered_when_it_can(
    stage: Stage, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has the lease answers what others heard, and nobody waits for that there."""
    monkeypatch.setattr(comeback, "RETRY_AFTER", (0.2,))
    url, session_id = postgres.new_database(), f"channel-{stage.desk.id}"
    ours, theirs = Full(url), PostgresSessionManager(url)
    async with process(stage, ours) as first, process(stage, theirs) as second:
        gate = stage.model.pauses("The", then=" first.")
        stage.model.says("Second.").then("Second.")
        await ask(first, session_id)
        await stage.desk.until(lambda found: any(map(is_written, found)), PATIENCE)
        await ask(second, session_id)
        await until(theirs, session_id, lambda session: len(session.open_turns) == 2)
        gate.release()
        await stage.says(stage.desk, "Second.")
    assert ours.refused is not None
    assert stage.said(stage.desk) == ["The first.", "Second."]


async def test_what_one_cannot_show_the_other_shows(
    stage: Stage, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line of a tool stands when Discord is gone for one of them, which tries again later."""
    monkeypatch.setattr(reconcile, "RETRY_AFTER", (2 * PATIENCE,))
    session_id, mod = f"channel-{stage.desk.id}", Actor(user_id="user-1", moderator=True)
    calls = [("long_job", {"name": "one"}), ("delete_file", {"path": "a.txt"})]
    stage.model.says(calls=calls).then("Only one is done.")
    async with process(stage, stores[0]) as first, process(stage, stores[1]) as second:
        await ask(first, session_id)
        await stage.desk.until(lambda found: len(asking(found)) == 2, PATIENCE)
        job, file = await first.agent.pending(session_id)
        await first._parts.decisions.approve(session_id, job.approval_id, mod)
        await stage.desk.until(lambda found: is_written(found[-1]), PATIENCE)
        for name in ("send", "edit", "delete"):
            monkeypatch.setattr(first._parts.reconciler._deliverer._outbox, name, gone)
        tried = pausing(first, monkeypatch)
        await first._parts.decisions.deny(session_id, file.approval_id, mod)
        async with asyncio.timeout(PATIENCE):
            await tried.wait()
        stage.tools.may_finish.set()
        await until(stores[1], session_id, lambda session: not session.open_turns)
        assert second._parts.rescue is not None
        second._parts.rescue.mind(session_id)  # as whoever hears a click does
        await stage.says(stage.desk, "Only one is done.")
        monkeypatch.undo()
        first._parts.reconciler.retry()


def pausing(client: ParleyClient, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Return what tells that a client has tried to show something in vain, and tries later."""
    tried, reconciler = asyncio.Event(), client._parts.reconciler
    pause = reconciler._pause

    async def noted(seconds: float) -> None:
        tried.set()
        await pause(seconds)

    monkeypatch.setattr(reconciler, "_pause", noted)
    return tried


async def gone(*_: object, **__: object) -> None:
    raise UnavailableError("Discord is away")


async def test_a_click_that_one_who_leaves_hears_is_left_to_the_other(
    stage: Stage, stores: Stores
) -> None:
    """It has something to show yet, and would act on nothing any more."""
    shown = asyncio.Event()
    async with process(stage, stores[0]) as first, process(stage, stores[1]):
        stage.model.says(calls=[("delete_file", {"path": "a.txt"})]).then("Gone.")
        await stage.alice.says("delete a.txt", in_=stage.desk)
        [card] = asking(await stage.desk.until(lambda each: bool(asking(each)), PATIENCE))
        first._parts.showing.start(shown.wait(), name="last words")
        leaving = asyncio.create_task(first.close())
        await ended(lambda: first._parts.work._closed)
        await stage.mod.clicks(card, "Approve")
        await stage.says(stage.desk, "Gone.")
        shown.set()
        await leaving


async def ended(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
