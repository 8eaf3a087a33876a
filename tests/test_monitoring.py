"""The bot's numbers and its health, as Prometheus and a container's engine ask for them."""

import asyncio
import json
import logging
import sys
from asyncio import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.errors import StorageError
from bot.events import AssistantMessageEvent, TurnEndedEvent, TurnOutcome, Usage, UserMessageEvent
from bot.logs import JsonFormatter
from bot.monitoring import Metrics, Watched
from bot.monitoring.prometheus import PrometheusMetrics
from bot.monitoring.server import ask_health, monitored
from bot.sandbox import Scope
from bot.sessions.stores.open_work import OpenWork
from tests.commands import run, running, stopped
from tests.ports import bound
from tests.setups import PATIENCE, Setup, set_up

GATED = """
from bot import tool

@tool(approval=True)
async def announce_it() -> str:
    "Tell everybody."
    return "told"
"""
Numbers = dict[str, float]


async def fetched(port: int, path: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{port}{path}") as answer:
            return answer.status, await answer.text()


async def numbers(port: int) -> Numbers:
    """Return every sample of a scrape, by its name and its labels' values."""
    _, text = await fetched(port, "/metrics")
    return {
        " ".join([each.name, *each.labels.values()]): each.value
        for family in text_string_to_metric_families(text)
        for each in family.samples
    }


async def until_it_is(well: bool, port: int) -> None:
    """Ask until the bot is well, or is not; it tells nobody unasked."""
    async with asyncio.timeout(PATIENCE):
        while (await asyncio.to_thread(ask_health, "127.0.0.1", port))[0] is not well:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@pytest.fixture
async def home() -> AsyncIterator[Setup]:
    async with set_up() as made:
        yield made


@asynccontextmanager
async def watched_bot(
    home: Setup, folder: Path, port: int, *arguments: str, **settings: str
) -> AsyncIterator[subprocess.Process]:
    """Run the bot with its port while the block lasts; it is well when the block begins."""
    given = {**home.settings, "METRICS_PORT": str(port), **settings}
    async with running("run", *arguments, in_=folder, settings=given) as process:
        await home.sandbox.connected(home.bot, PATIENCE)
        await until_it_is(True, port)
        yield process
    await home.sandbox.disconnected(home.bot)


async def test_a_bot_is_scraped_after_it_answered(home: Setup, tmp_path: Path, port: int) -> None:
    gate = home.model.pauses("Hello", then=" Alice.")
    fault = home.sandbox.faults.next_send(fails=429, retry_after=0.01, scope=Scope.USER)
    async with watched_bot(home, tmp_path, port):
        await home.alice.says("hello", in_=home.desk)
        await home.desk.until(lambda each: "Hello" in each[-1].content, PATIENCE)
        gate.release()
        await home.said("Hello Alice.")
        found = await numbers(port)
    assert fault.is_over
    assert found["parley_turns_total completed"] == 1
    assert found["parley_first_text_seconds_count"] == 1
    assert found["parley_edit_lag_seconds_count"] >= 1
    assert found["parley_tokens_total input"] > 0
    assert found["parley_tokens_total output"] > 0
    assert found["parley_discord_rate_limited_total user"] == 1
    assert found["parley_gateway_connected"] == 1
    assert found["parley_event_loop_lag_seconds_count"] > 0
    assert found["parley_database_seconds_count write"] > 0
    assert found["parley_database_seconds_count read"] > 0
    assert (found["parley_open_turns"], found["parley_approvals_waiting"]) == (0, 0)


async def test_what_waits_is_counted_also_after_a_restart(
    home: Setup, tmp_path: Path, port: int
) -> None:
    (tmp_path / "mine.py").write_text(GATED)
    home.model.says(calls=[("announce_it", {})])
    async with watched_bot(home, tmp_path, port, TOOLS="mine.py"):
        await home.alice.says("tell them", in_=home.desk)
        await home.desk.until(
            lambda each: any("Approve" in str(message.buttons) for message in each), PATIENCE
        )
    async with watched_bot(home, tmp_path, port, TOOLS="mine.py"):
        found = await numbers(port)
    assert (found["parley_open_turns"], found["parley_approvals_waiting"]) == (1, 1)


async def test_the_command_asks_a_bot_how_it_is(home: Setup, tmp_path: Path, port: int) -> None:
    here = {"METRICS_PORT": str(port)}
    async with watched_bot(home, tmp_path, port):
        well = await run("check", "--health", in_=tmp_path, settings=here)
    gone = await run("check", "--health", in_=tmp_path, settings=here)
    off = await run("check", "--health", in_=tmp_path)
    assert (well.status, well.out) == (0, "gateway ok\ndatabase ok\n")
    assert gone.status == 1
    assert gone.out == f"no answer from 127.0.0.1:{port}: Connection refused\n"
    assert off.status == 2
    assert off.err == "METRICS_PORT is 0: set it for the bot and for this command.\n"


async def test_a_bot_that_discord_does_not_reach_is_not_well(
    home: Setup, tmp_path: Path, port: int
) -> None:
    async with watched_bot(home, tmp_path, port):
        await home.sandbox.network.goes()
        await until_it_is(False, port)
        status, text = await fetched(port, "/healthz")
        found = await numbers(port)
    assert (status, text) == (503, "gateway FAIL\ndatabase ok\n")
    assert found["parley_gateway_connected"] == 0


async def test_a_port_that_is_taken_is_used_once_it_is_free(
    home: Setup, tmp_path: Path, port: int
) -> None:
    with bound(port) as taken:
        taken.listen()
        given = {**home.settings, "METRICS_PORT": str(port)}
        async with running("run", in_=tmp_path, settings=given) as process:
            await home.sandbox.connected(home.bot, PATIENCE)
            taken.close()
            await until_it_is(True, port)
            end = await stopped(process)
    assert end.status == 0
    assert f"METRICS_PORT: 127.0.0.1:{port} is taken: tried again until it is free" in end.err
    assert f"127.0.0.1:{port} is free, and answers now" in end.err


async def test_a_bot_ends_while_its_port_is_taken(home: Setup, tmp_path: Path, port: int) -> None:
    with bound(port) as taken:
        taken.listen()
        given = {**home.settings, "METRICS_PORT": str(port)}
        async with running("run", in_=tmp_path, settings=given) as process:
            await home.sandbox.connected(home.bot, PATIENCE)
            end = await stopped(process)
    assert end.status == 0
    assert "Traceback" not in end.err


async def test_an_address_that_is_not_here_is_one_line(
    home: Setup, tmp_path: Path, port: int
) -> None:
    given = {"METRICS_PORT": str(port), "METRICS_HOST": "192.0.2.1"}
    end = await run("run", in_=tmp_path, settings={**home.settings, **given})
    assert end.status == 2
    assert f"METRICS_PORT: http://192.0.2.1:{given['METRICS_PORT']} cannot be used" in end.err
    assert "Traceback" not in end.err


def logged(text: str) -> list[dict[str, str]]:
    lines = [json.loads(each) for each in text.splitlines()]
    assert all({"time", "level", "logger", "message"} <= each.keys() for each in lines)
    return lines


@pytest.mark.parametrize(
    ("settings", "status", "told"),
    [
        (
            {"LOG_LEVEL": "DEBUG", "DISCORD_TOKEN": "wrong"},
            2,
            ["Parley cannot start: Discord refuses DISCORD_TOKEN"],
        ),
        (
            {"MAX_STEPS": "no", "DMS": "no"},
            2,
            ["Parley cannot start: MAX_STEPS must be", "Parley cannot start: DMS must be"],
        ),
        ({"DATABASE": "/proc/nowhere/parley.db"}, 1, ["Parley has stopped: /proc/nowhere/"]),
    ],
)
async def test_a_log_for_programs_is_one_object_a_line_also_when_it_ends(
    settings: dict[str, str], status: int, told: list[str], home: Setup, tmp_path: Path
) -> None:
    given = {**home.settings, **settings}
    end = await run("run", "--log-format", "json", in_=tmp_path, settings=given)
    assert end.status == status
    last = logged(end.err)[-len(told) :]
    assert all(each["level"] == "CRITICAL" for each in last)
    starts = [each["message"].startswith(text) for each, text in zip(last, told, strict=True)]
    assert all(starts), last


def test_a_line_for_programs_has_the_exception() -> None:
    try:
        raise ValueError("no such thing")
    except ValueError:
        error = sys.exc_info()
    record = logging.LogRecord("bot.x", logging.ERROR, "x.py", 1, "%s failed", ("it",), error)
    record.stack_info = "Stack"
    line = json.loads(JsonFormatter().format(record))
    assert (line["level"], line["message"], line["stack"]) == ("ERROR", "it failed", "Stack")
    assert line["exception"].endswith("ValueError: no such thing")


class Disk:
    """A database that can be well or not."""

    def __init__(self) -> None:
        self.well = True
        self.writes = 0
        self.answers: asyncio.Event | None = None

    async def write(self) -> None:
        self.writes += 1
        if self.answers is not None:
            await self.answers.wait()
        if not self.well:
            raise StorageError("the disk is full")

    async def count(self) -> OpenWork:
        await self.write()
        return OpenWork(turns=3, approvals=2)


async def test_a_database_that_cannot_be_written_is_not_well(port: int) -> None:
    disk, metrics = Disk(), PrometheusMetrics()
    watched = Watched(connected=lambda: True, write=disk.write, count_open=disk.count)
    disk.well = False
    async with monitored("127.0.0.1", port, metrics, watched):
        assert await fetched(port, "/healthz") == (503, "gateway ok\ndatabase FAIL\n")
        assert (await numbers(port))["parley_open_turns"] == 0
        told = await asyncio.to_thread(ask_health, "0.0.0.0", port)  # noqa: S104
        assert told == (False, "gateway ok\ndatabase FAIL\n")
        disk.well = True
        assert (await fetched(port, "/healthz"))[0] == 200
        found = await numbers(port)
    assert (found["parley_open_turns"], found["parley_approvals_waiting"]) == (3, 2)


async def test_a_database_that_does_not_answer_is_not_well_and_is_asked_once(port: int) -> None:
    disk, metrics = Disk(), PrometheusMetrics()
    disk.answers = asyncio.Event()
    watched = Watched(connected=lambda: True, write=disk.write, count_open=disk.count)
    async with monitored("127.0.0.1", port, metrics, watched):
        for _ in range(2):
            assert await fetched(port, "/healthz") == (503, "gateway ok\ndatabase FAIL\n")
        assert (await numbers(port))["parley_open_turns"] == 0
        assert disk.writes == 2
        disk.answers.set()
        assert (await fetched(port, "/healthz"))[0] == 200
        assert (await numbers(port))["parley_open_turns"] == 3


async def test_who_leaves_does_not_wait_for_a_database_that_does_not_answer(port: int) -> None:
    disk = Disk()
    disk.answers = asyncio.Event()
    watched = Watched(connected=lambda: True, write=disk.write, count_open=disk.count)
    async with monitored("127.0.0.1", port, PrometheusMetrics(), watched):
        assert (await fetched(port, "/healthz"))[0] == 503


async def test_those_who_ask_often_do_not_load_the_database(port: int) -> None:
    disk, metrics = Disk(), PrometheusMetrics()
    watched = Watched(connected=lambda: True, write=disk.write, count_open=disk.count)
    async with monitored("127.0.0.1", port, metrics, watched):
        for _ in range(5):
            await fetched(port, "/healthz")
            await fetched(port, "/metrics")
    assert disk.writes == 2


def test_numbers_that_nobody_wants_are_not_kept() -> None:
    metrics = Metrics()
    metrics.recorded([])
    metrics.first_text(1.0)
    metrics.edited(1.0)
    metrics.rate_limited("user")
    metrics.loop_lag(0.1)
    metrics.database("read", 0.1)
    assert vars(metrics) == {}


def test_numbers_are_told_as_prometheus_reads_them() -> None:
    metrics = PrometheusMetrics()
    usage = Usage(input_tokens=7, output_tokens=2)
    metrics.recorded(
        [
            UserMessageEvent(text="hi"),
            AssistantMessageEvent(text="hello", usage=usage),
            TurnEndedEvent(outcome=TurnOutcome.STOPPED),
        ]
    )
    metrics.first_text(0.2)
    metrics.edited(1.2)
    metrics.rate_limited("user")
    metrics.loop_lag(-0.1)
    metrics.database("read", 0.01)
    told = metrics.text(connected=True, found=OpenWork(turns=3, approvals=1)).decode()
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(told)
        for sample in family.samples
    }
    assert found["parley_turns_total", "completed"] == 1
    assert found["parley_turns_total", "stopped"] == 1
    assert found["parley_tokens_total", "input"] == 7
    assert found["parley_open_turns",] == 3
    assert found["parley_approvals_waiting",] == 1
    assert found["parley_gateway_connected",] == 1
