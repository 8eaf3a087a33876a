"""A deploy as docs/run.md has it: the new process begins before the old one ends."""

import asyncio
import re
import signal
from asyncio import subprocess
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from bot.frontend.schedules.scheduling import PAGE
from bot.sandbox import Answer
from bot.sessions.stores.schedules import MOST
from tests.commands import running, stopped
from tests.postgres import Server
from tests.setups import PATIENCE, Setup, labels, set_up
from tests.test_monitoring import until_it_is


@pytest.fixture
async def home(postgres: Server, port: int) -> AsyncIterator[Setup]:
    async with set_up() as made:
        made.settings.update(DATABASE_URL=postgres.new_database(), METRICS_PORT=str(port))
        yield made


async def logged(process: subprocess.Process, text: str) -> None:
    """Return once a process has logged a line with this."""
    assert process.stderr is not None
    async with asyncio.timeout(PATIENCE):
        while line := await process.stderr.readline():
            if text in line.decode():
                return
    raise AssertionError(f"it ended and did not log {text!r}")


async def connections(home: Setup, number: int) -> None:
    """Return once so many processes are connected."""

    def found() -> bool | None:
        there = [each for each in home.sandbox.connections if each.line is not None]
        return True if len(there) == number else None

    await home.world.pulse.until(found, PATIENCE, lambda: f"not {number} connections")


async def test_a_new_process_with_the_same_settings_takes_over_from_the_old_one(
    home: Setup, tmp_path: Path
) -> None:
    port = int(home.settings["METRICS_PORT"])
    async with running("run", in_=tmp_path, settings=home.settings) as old:
        await until_it_is(True, port)
        async with running("run", in_=tmp_path, settings=home.settings) as new:
            await logged(new, f"METRICS_PORT: 127.0.0.1:{port} is taken")
            await connections(home, 2)
            home.model.says("Hello from one of us.")
            await home.alice.says("hello", in_=home.desk)
            await home.said("Hello from one of us.")
            assert (await stopped(old)).status == 0
            await until_it_is(True, port)
            home.model.says("Hello from the new one.")
            await home.alice.says("and now?", in_=home.desk)
            await home.said("Hello from the new one.")
            assert (await stopped(new)).status == 0
    assert len(home.model.requests) == 2


async def test_what_a_frozen_process_was_answering_is_gone_on_with_once_it_is_ended(
    home: Setup, tmp_path: Path
) -> None:
    async with running("run", in_=tmp_path, settings=home.settings) as frozen:
        await home.sandbox.connected(home.bot, PATIENCE)
        home.model.pauses("Let me see.", then=" Never said.")
        await home.alice.says("two and two?", in_=home.desk)
        await home.desk.until(lambda each: "Let me see." in each[-1].content, PATIENCE)
        async with running("run", in_=tmp_path, settings=home.settings) as other:
            await connections(home, 2)
            frozen.send_signal(signal.SIGSTOP)
            assert (await home.alice.runs("/stop", in_=home.desk)).text == "Stopped."
            home.model.says("Five.")
            await home.alice.says("two and three?", in_=home.desk)
            assert "Stop" in labels(home.desk.messages[1])  # it has the screen, and the lease
            frozen.kill()
            await home.desk.until(lambda each: "Five." in each[-1].content, PATIENCE)
            assert (await stopped(other)).status == 0
    said = [each.content for each in home.desk.messages if each.author is home.bot]
    assert said == ["Stopped.", "Five."]


async def test_what_is_commanded_while_the_old_process_ends_is_done_once_and_answered(
    home: Setup, tmp_path: Path
) -> None:
    answers: list[Answer] = []
    ended = asyncio.Event()

    async def command() -> None:
        after = 0
        while after < 2 and len(answers) < MOST:
            after += ended.is_set()
            named = {"when": "in 2 hours", "text": f"tea {len(answers)}"}
            answers.append(await home.alice.runs("/remind", in_=home.desk, **named))

    async with running("run", in_=tmp_path, settings=home.settings) as old:
        await connections(home, 1)
        async with running("run", in_=tmp_path, settings=home.settings) as new:
            await connections(home, 2)
            commanding = asyncio.create_task(command())
            await answered(home, answers, 2)
            end = await stopped(old)
            ended.set()
            await commanding
            kept = [
                (await home.alice.runs("/reminders", in_=home.desk, page=page)).text
                for page in range(1, -(-len(answers) // PAGE) + 1)
            ]
            last = await stopped(new)
    assert [each for each in answers if not each.text.startswith("I will remind you")] == []
    said = re.findall(r"says: (tea \d+)", "\n".join(kept))
    assert sorted(said) == sorted(f"tea {number}" for number in range(len(answers)))
    assert [end.status, last.status] == [0, 0]
    assert "Traceback" not in end.err + last.err


async def answered(home: Setup, answers: Sequence[Answer], number: int) -> None:
    """Return once so many commands are answered."""

    def found() -> bool | None:
        return True if len(answers) >= number else None

    await home.world.pulse.until(found, PATIENCE, lambda: f"not {number} answers")
