"""A connection breaks in every way there is: what is said meanwhile is answered once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import discord
import pytest
from discord.gateway import DiscordWebSocket, ReconnectWebSocket

from bot.frontend import ParleyClient
from bot.sandbox import Session
from tests.e2e.stage import PATIENCE, Stage, logged
from tests.e2e.test_catch_up import echo


@pytest.fixture(autouse=True)
def _identify_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do without the five seconds that discord.py waits before it identifies again."""

    async def hook(client: ParleyClient, shard_id: int, *, initial: bool = False) -> None:
        pass

    monkeypatch.setattr(ParleyClient, "before_identify_hook", hook)


@asynccontextmanager
async def online(stage: Stage, **options: Any) -> AsyncIterator[ParleyClient]:
    """Run the bot; it has answered one message when the block begins."""
    stage.model.answers(echo)
    async with stage.running(reconnect_within=0.05, **options) as client:
        await stage.alice.says("hello", in_=stage.desk)
        await stage.says(stage.desk, "Re: hello")
        yield client


async def back(stage: Stage, before: Session | None = None) -> Session:
    """Return the bot's session, once it is another one."""
    async with asyncio.timeout(PATIENCE):
        session = await stage.sandbox.connected(stage.bot)
        while session is before:
            await asyncio.sleep(0.01)
            session = await stage.sandbox.connected(stage.bot)
    return session


async def test_an_event_that_comes_twice_is_answered_once(stage: Stage) -> None:
    async with online(stage):
        stage.world.faults.duplicates_next("MESSAGE_CREATE", times=2, copies=3)
        await stage.alice.says("one", in_=stage.desk)
        await stage.alice.says("two", in_=stage.desk)
        await stage.says(stage.desk, "Re: two")
        await stage.alice.says("three", in_=stage.desk)
        await stage.says(stage.desk, "Re: three")
    assert stage.said(stage.desk)[1:] == ["Re: one", "Re: two", "Re: three"]


async def test_events_that_come_twice_do_not_count_twice(stage: Stage) -> None:
    async with online(stage, turns_per_minute=3):
        stage.world.faults.duplicates_next("MESSAGE_CREATE", copies=5)
        await stage.alice.says("one", in_=stage.desk)
        await stage.alice.says("two", in_=stage.desk)
        await stage.says(stage.desk, "Re: two")
    assert stage.said(stage.desk)[1:] == ["Re: one", "Re: two"]


async def test_a_resumed_connection_needs_no_look_back(stage: Stage) -> None:
    async with online(stage):
        session = await stage.sandbox.connected(stage.bot)
        before = len(stage.world.requests)
        stage.world.faults.drops(stage.bot)
        for text in ("one", "two"):
            await stage.alice.says(text, in_=stage.desk)
        await stage.says(stage.desk, "Re: two")
        assert await stage.sandbox.connected(stage.bot) is session
    assert stage.said(stage.desk)[1:] == ["Re: one", "Re: two"]
    assert "GET" not in {each.method for each in stage.world.requests[before:]}


async def test_what_an_invalid_session_lost_is_read(stage: Stage) -> None:
    dm = stage.bob.dm(stage.bot)
    async with online(stage):
        await stage.bob.says("hello", in_=dm)
        await stage.says(dm, "Re: hello")
        before = await stage.sandbox.connected(stage.bot)
        stage.world.faults.drops(stage.bot)
        stage.world.faults.forgets(stage.bot)
        await stage.alice.says("one", in_=stage.desk)
        await stage.bob.says("one", in_=dm)
        opening = await stage.bob.says(f"{stage.bot.mention} hi", in_=stage.general)
        await back(stage, before)
        await stage.alice.says("two", in_=stage.desk)
        await stage.says(stage.desk, "Re: two")
        await stage.says(dm, "Re: one")
        await stage.says(await stage.thread_on(opening), "Re: hi")
    assert stage.said(stage.desk)[1:] == ["Re: one", "Re: two"]


async def test_an_answer_goes_on_while_the_session_is_replaced(stage: Stage) -> None:
    async with online(stage):
        gate = stage.model.pauses("Let me", " see.")
        await stage.alice.says("one", in_=stage.desk)
        await gate.reached.wait()
        before = await stage.sandbox.connected(stage.bot)
        await stage.world.faults.invalidates(stage.bot)
        await stage.alice.says("two", in_=stage.desk)
        await back(stage, before)
        gate.release()
        await stage.says(stage.desk, "Re: two")
    assert stage.said(stage.desk)[1:] == ["Let me see.", "Re: two"]


async def test_a_dead_connection_is_noticed_and_replaced(stage: Stage) -> None:
    stage.world.heartbeat_interval = 0.05
    async with online(stage, dead_after=0.3):
        stage.world.faults.silences(stage.bot)
        await stage.alice.says("into the void", in_=stage.desk)
        await stage.says(stage.desk, "Re: into the void")
    assert stage.said(stage.desk)[1:] == ["Re: into the void"]


async def test_a_storm_of_reconnections_loses_and_doubles_nothing(stage: Stage) -> None:
    async with online(stage, turns_per_minute=100):
        for number in range(6):
            before = await stage.sandbox.connected(stage.bot)
            await stage.alice.says(f"a{number}", in_=stage.desk)
            if number % 2:
                await stage.world.faults.invalidates(stage.bot)
            else:
                stage.world.faults.drops(stage.bot)
                stage.world.faults.forgets(stage.bot)
            await stage.alice.says(f"b{number}", in_=stage.desk)
            await back(stage, before)
        await stage.says(stage.desk, "Re: b5")
    expected = [f"Re: {each}{number}" for number in range(6) for each in "ab"]
    assert stage.said(stage.desk)[1:] == expected


async def test_it_keeps_trying_while_the_network_is_gone(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    async with online(stage):
        before = await stage.sandbox.connected(stage.bot)
        async with stage.sandbox.network.gone():
            await stage.alice.says("anybody there?", in_=stage.desk)
            stage.world.faults.forgets(stage.bot)
            await logged(caplog, "Attempting a reconnect", 3)
        await back(stage, before)
        await stage.says(stage.desk, "Re: anybody there?")
    assert stage.said(stage.desk)[1:] == ["Re: anybody there?"]


async def test_an_answer_made_while_the_network_was_gone_arrives_once(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    async with online(stage):
        gate = stage.model.pauses("", "Here I am.")
        await stage.alice.says("one", in_=stage.desk)
        await gate.reached.wait()
        async with stage.sandbox.network.gone():
            gate.release()
            await logged(caplog, "is not reconciled")
        await stage.says(stage.desk, "Here I am.")
    assert stage.said(stage.desk)[1:] == ["Here I am."]


async def test_a_gateway_that_hangs_up_before_its_hello_is_tried_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, failures = DiscordWebSocket.from_client, [ReconnectWebSocket(0), ReconnectWebSocket(0)]

    async def hangs_up(*given: Any, **more: Any) -> Any:
        if failures:
            raise failures.pop()
        return await connect(*given, **more)

    async with online(stage):
        before = await stage.sandbox.connected(stage.bot)
        failures.append(aiohttp.ClientError("gone"))  # type: ignore[arg-type]
        monkeypatch.setattr(DiscordWebSocket, "from_client", hangs_up)
        stage.world.faults.drops(stage.bot)
        stage.world.faults.forgets(stage.bot)
        await stage.alice.says("one", in_=stage.desk)
        await back(stage, before)
        await stage.says(stage.desk, "Re: one")


async def test_the_wait_between_attempts_is_bounded(stage: Stage) -> None:
    async with online(stage) as client:
        shard = client.get_shard(0)
        assert shard is not None
        delays = [shard._parent._backoff.delay() for _ in range(30)]
        assert isinstance(client, discord.AutoShardedClient)
    assert max(delays) == 0.05
