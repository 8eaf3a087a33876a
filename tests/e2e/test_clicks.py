"""Clicks that two processes of the bot hear, on one shard and one database of either engine."""

from __future__ import annotations

import asyncio
from asyncio import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.events import ToolStartedEvent
from bot.sandbox import Channel, Message, Person
from tests.commands import running
from tests.e2e.client_process import store_at
from tests.e2e.stage import PATIENCE, Stage
from tests.setups import labels

DESKS, CARDS = 3, 2


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where a database is: one of each engine."""
    if request.param == "sqlite":
        return str(tmp_path / "parley.db")
    url: str = request.getfixturevalue("postgres").new_database()
    return url


@asynccontextmanager
async def process(
    stage: Stage, address: str, ran: Path, desks: Sequence[Channel]
) -> AsyncIterator[subprocess.Process]:
    places = (stage.sandbox.api_base, stage.service.base_url, stage.bot.token, str(ran))
    channels = (str(each.id) for each in desks)
    program = ("-m", "tests.e2e.client_process", address)
    async with running(*places, *channels, in_=ran.parent, program=program) as made:
        yield made


async def _ready(process: subprocess.Process) -> None:
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"


async def test_clicks_that_two_processes_hear_run_each_call_once_and_everybody_is_told(
    stage: Stage, address: str, tmp_path: Path
) -> None:
    """Every card is clicked twice, at once, by each of two people."""
    ran, eve = tmp_path / "ran", stage.world.person("eve")
    stage.guild.join(eve, permissions={"MANAGE_GUILD"})
    desks = [stage.guild.channel(f"desk-{number}") for number in range(DESKS)]
    two = process(stage, address, ran, desks), process(stage, address, ran, desks)
    async with two[0] as first, two[1] as second:
        await asyncio.gather(_ready(first), _ready(second))
        cards = [card for number in range(DESKS) for card in await _asked(stage, desks, number)]
        stage.model.answers(lambda request: "Thanks.")
        clicks = [_told(card, each) for card in cards for each in (stage.mod, eve) * 2]
        told = await asyncio.gather(*clicks)
        for desk in desks:
            await stage.says(desk, "Thanks.")
    assert all(text.startswith(("**Approved by", "Too late: already approved by")) for text in told)
    assert sorted(map(int, ran.read_text().split())) == list(range(len(cards)))
    if "://" in address:  # a file is for one bot: two of them do not know of each other's messages
        assert [stage.said(desk).count("Thanks.") for desk in desks] == [1] * DESKS
    assert await _starts(address, desks) == [CARDS] * DESKS


async def _asked(stage: Stage, desks: Sequence[Channel], number: int) -> Sequence[Message]:
    """Let two calls wait at a desk, and return their cards."""
    stage.model.says(calls=[("pay", {"number": CARDS * number + n}) for n in range(CARDS)])
    await stage.alice.says("pay", in_=desks[number])

    def asking(messages: list[Message]) -> list[Message]:
        return [each for each in messages if "Approve" in labels(each)]

    return asking(await desks[number].until(lambda each: len(asking(each)) == CARDS, PATIENCE))


async def _told(card: Message, person: Person) -> str:
    """Click, and return what one is told: privately, or by the card for who decided."""
    return (await person.clicks(card, "Approve", PATIENCE)).text


async def _starts(address: str, desks: Sequence[Channel]) -> list[int]:
    """Return how many calls were started at each desk."""
    store = store_at(address)
    logs = [await store.read_log(f"channel-{desk.id}") for desk in desks]
    await store.close()
    return [sum(isinstance(event, ToolStartedEvent) for event in log) for log in logs]
