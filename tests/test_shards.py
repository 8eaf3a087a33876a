"""Two processes, each with a shard of its own, on one database."""

from __future__ import annotations

import asyncio
import signal
from asyncio import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.config import load_settings
from bot.errors import ConfigError
from bot.frontend.shards import Shards
from bot.sandbox import REAL_LIMITS, Channel, Guild, World
from tests.commands import ended, running, stopped
from tests.postgres import Server
from tests.setups import PATIENCE, Setup, set_up


def shard_of(guild: Guild) -> int:
    return (guild.id >> 22) % 2


@pytest.fixture
async def home(postgres: Server) -> AsyncIterator[Setup]:
    async with set_up(World(limits=REAL_LIMITS, ack_timeout=PATIENCE)) as made:
        made.settings.update(DATABASE_URL=postgres.new_database(), SHARD_COUNT="2")
        yield made


async def a_server_elsewhere(home: Setup) -> Channel:
    """Return a channel of a server that is on the other shard than the first; alice is in it."""
    number, here = 0, home.desk.guild
    while True:
        number += 1
        guild = home.world.guild(f"Other {number}")
        if shard_of(guild) != shard_of(here):
            guild.join(home.bot)
            guild.join(home.alice)
            channel = guild.channel("desk")
            home.settings["CHANNELS"] += f",{channel.id}"
            return channel
        await asyncio.sleep(0.001)


@asynccontextmanager
async def process(home: Setup, folder: Path, shard: int) -> AsyncIterator[subprocess.Process]:
    settings = {**home.settings, "SHARD_IDS": str(shard)}
    async with running("run", in_=folder, settings=settings) as made:
        yield made


async def connected(home: Setup, *shards: int) -> None:
    """Return once these shards are there, and no others."""

    def found() -> bool | None:
        there = [each.shard[0] for each in home.sandbox.connections if each.line is not None]
        return True if sorted(there) == sorted(shards) else None

    await home.world.pulse.until(found, PATIENCE, lambda: f"not the shards {shards}")


async def answered(channel: Channel, text: str) -> None:
    await channel.until(lambda messages: any(text in m.content for m in messages), PATIENCE)


async def test_each_answers_what_is_said_on_its_shard_and_the_first_the_dms(
    home: Setup, tmp_path: Path
) -> None:
    other = await a_server_elsewhere(home)
    mine, theirs = sorted([home.desk, other], key=lambda channel: shard_of(channel.guild))
    home.model.answers(lambda request: f"Re: {request['messages'][-1]['content'][-5:]}")
    async with process(home, tmp_path, 0) as first, process(home, tmp_path, 1) as second:
        await connected(home, 0, 1)
        for channel, text in ((mine, "zero?"), (theirs, "one??")):
            await home.alice.says(text, in_=channel)
            await answered(channel, f"Re: {text}")
        direct = home.alice.dm(home.bot)
        await home.alice.says("and I?", in_=direct)
        await direct.until(
            lambda messages: any("Re: nd I?" in m.content for m in messages), PATIENCE
        )
        theirs.guild.join(bob := home.world.person("bob"))
        direct = bob.dm(home.bot)
        await bob.says("me too", in_=direct)  # whose only server is the other process's
        await direct.until(
            lambda messages: any("Re: e too" in m.content for m in messages), PATIENCE
        )
        ends = [await stopped(each) for each in (first, second)]
    assert [each.status for each in ends] == [0, 0]
    assert not any("invalidated" in each.err for each in ends)  # they took turns
    told = [each for each in home.world.requests if each.path.endswith("/commands")]
    assert [each.method for each in told] == ["PUT"]


async def test_what_a_shard_left_open_waits_for_that_shard(home: Setup, tmp_path: Path) -> None:
    other = await a_server_elsewhere(home)
    theirs = max([home.desk, other], key=lambda channel: shard_of(channel.guild))
    gate = home.model.pauses("Let me see.", then=" Four.")
    async with process(home, tmp_path, 1) as second:
        await connected(home, 1)
        await home.alice.says("two and two?", in_=theirs)
        await gate.reached.wait()
        second.send_signal(signal.SIGKILL)
        await ended(second)
    home.model.says("It is four.")
    async with process(home, tmp_path, 0) as first:
        await connected(home, 0)
        mine = home.desk if theirs is other else other
        home.model.answers(lambda request: "Here I am.")
        await home.alice.says("are you there?", in_=mine)
        await answered(mine, "It is four.")  # the next answer of the script, to this one
        assert not any("four" in each.content.lower() for each in theirs.messages)
        async with process(home, tmp_path, 1):
            await answered(theirs, "Here I am.")
        assert (await stopped(first)).status == 0


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["SHARD_IDS=0"], "SHARD_COUNT is missing."),
        (["SHARD_IDS=0,2", "SHARD_COUNT=2"], "SHARD_IDS must be at most 1, since SHARD_COUNT is 2"),
        (["SHARD_IDS=0", "SHARD_COUNT=2"], "DATABASE_URL is missing."),
        (["SHARD_IDS=first", "SHARD_COUNT=2"], "SHARD_IDS must be numbers from 0 or ranges"),
        (
            ["SHARD_IDS=3-1", "SHARD_COUNT=4"],
            "SHARD_IDS must be numbers from 0 or ranges such as 0-39, not '3-1'",
        ),
        (
            ["SHARD_IDS=0-", "SHARD_COUNT=4"],
            "SHARD_IDS must be numbers from 0 or ranges such as 0-39, not '0-'",
        ),
        (
            ["SHARD_IDS=-1", "SHARD_COUNT=4"],
            "SHARD_IDS must be numbers from 0 or ranges such as 0-39, not '-1'",
        ),
        (
            ["SHARD_IDS=0-9999999", "SHARD_COUNT=4"],
            "SHARD_IDS must be numbers from 0 or ranges such as 0-39, not '0-9999999'",
        ),
        (["SHARD_IDS=0-4", "SHARD_COUNT=4"], "SHARD_IDS must be at most 3"),
    ],
)
def test_shards_that_do_not_fit_are_told(tmp_path: Path, lines: list[str], told: str) -> None:
    file = tmp_path / "wrong.env"
    file.write_text("\n".join([*lines, "DISCORD_TOKEN=a", "OPENAI_API_KEY=b"]))
    with pytest.raises(ConfigError) as caught:
        load_settings(file)
    assert any(each.startswith(told) for each in caught.value.problems)


def test_a_server_is_on_one_shard_and_dms_are_on_the_first() -> None:
    parts = [Shards(4, frozenset({0, 1})), Shards(4, frozenset({2})), Shards(4, frozenset({3}))]
    for server in (0, 1 << 22, 2 << 22, 3 << 22, 7 << 22, 81384788765712384):
        assert sum(part.has(server) for part in parts) == 1
    assert [part.has(None) for part in parts] == [True, False, False]
    assert Shards().has(5)
    assert Shards(2, frozenset({0, 1})).all
