"""The bot as a process: how it starts, how it says that it cannot, and how it ends."""

import asyncio
import signal
from asyncio import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot import StorageError
from bot.app import open_agent, open_app
from bot.config import load_settings
from bot.sandbox import World
from tests.commands import NOTHING, Settings, ended, printed, run, running, stopped
from tests.setups import PATIENCE, Setup, set_up

STUCK = """
import sys, time
from bot import app, tool
from bot.joining.tools import TOOLS

@tool(name="roll_dice")
{sync}def stuck() -> str:
    "Never return."
    print("begun", flush=True)
    time.sleep(3600)

TOOLS["roll_dice"] = stuck
app.LAST_SECONDS = 1.0
from bot.__main__ import main
sys.exit(main(["run"]))
"""


@pytest.fixture
async def home() -> AsyncIterator[Setup]:
    async with set_up() as made:
        yield made


@asynccontextmanager
async def online(
    home: Setup, folder: Path, changed: Settings = NOTHING, *, fresh: bool = False
) -> AsyncIterator[subprocess.Process]:
    """Run the bot while the block lasts; it is there when the block begins."""
    settings = {**home.settings, **changed}
    async with running("run", in_=folder, settings=settings, fresh=fresh) as process:
        await home.sandbox.connected(home.bot, PATIENCE)
        yield process
    await home.sandbox.disconnected(home.bot)


async def test_it_answers_until_it_is_told_to_stop(home: Setup, tmp_path: Path) -> None:
    home.model.says("Hello Alice.")
    async with online(home, tmp_path, fresh=True) as process:
        await home.alice.says("hello", in_=home.desk)
        await home.said("Hello Alice.")
        end = await stopped(process)
    assert end.status == 0
    assert (tmp_path / "parley.db").exists()
    assert "hello" not in end.err.lower()


async def test_the_model_is_told_how_speakers_are_marked(home: Setup, tmp_path: Path) -> None:
    home.model.says("Hello Alice.")
    async with online(home, tmp_path, {"SYSTEM_PROMPT": "Be a pirate."}):
        await home.alice.says("hello", in_=home.desk)
        await home.said("Hello Alice.")
    system, user = home.model.requests[0]["messages"]
    assert system["content"].startswith("Be a pirate.\n\n")
    assert '"[from NAME (user-ID)]"' in system["content"]
    assert user["content"] == f"[from alice (user-{home.alice.id})]\nhello"
    assert [each["function"]["name"] for each in home.model.requests[0]["tools"]] == [
        "current_time",
        "roll_dice",
        "remember",
        "schedule",
    ]


async def test_a_turn_that_runs_may_finish(home: Setup, tmp_path: Path) -> None:
    gate = home.model.pauses("Let me see.", then=" Four.")
    async with online(home, tmp_path) as process:
        await home.alice.says("two and two?", in_=home.desk)
        await gate.reached.wait()
        process.send_signal(signal.SIGTERM)
        gate.release()
        end = await ended(process)
    await home.said("Let me see. Four.")
    assert end.status == 0


async def test_a_turn_that_does_not_finish_is_answered_after_the_next_start(
    home: Setup, tmp_path: Path
) -> None:
    gate = home.model.hangs(after="Let me see.")
    async with online(home, tmp_path, {"SHUTDOWN_SECONDS": "0"}) as process:
        await home.alice.says("two and two?", in_=home.desk)
        await gate.reached.wait()
        end = await stopped(process, signal.SIGINT)
    assert end.status == 0
    home.model.says("It is four.")
    async with online(home, tmp_path):
        await home.said("It is four.")
    assert len([each for each in home.desk.messages if each.author is home.bot]) == 1


async def test_a_second_signal_ends_it_at_once(home: Setup, tmp_path: Path) -> None:
    gate = home.model.hangs()
    async with online(home, tmp_path, {"SHUTDOWN_SECONDS": "600"}) as process:
        await home.alice.says("two and two?", in_=home.desk)
        await gate.reached.wait()
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        while b"a second signal ends at once" not in await process.stderr.readline():
            pass
        assert (await stopped(process)).status == 128 + signal.SIGTERM


@pytest.mark.parametrize(
    ("sync", "status"), [("", 0), ("async ", 1)], ids=["in its thread", "on the event loop"]
)
async def test_a_tool_that_never_returns_does_not_keep_it_alive(
    sync: str, status: int, home: Setup, tmp_path: Path
) -> None:
    home.model.says(calls=[("roll_dice", {})])
    script = tmp_path / "stuck.py"
    script.write_text(STUCK.format(sync=sync))
    settings = {**home.settings, "SHUTDOWN_SECONDS": "0"}
    async with running(in_=tmp_path, settings=settings, program=[str(script)]) as process:
        await home.sandbox.connected(home.bot, PATIENCE)
        await home.alice.says("roll", in_=home.desk)
        await printed(process, "begun")
        end = await stopped(process)
    assert end.status == status


async def test_it_stops_when_whoever_holds_its_lifeline_has_gone(
    home: Setup, tmp_path: Path
) -> None:
    async with running("run", "--lifeline", in_=tmp_path, settings=home.settings) as process:
        await home.sandbox.connected(home.bot, PATIENCE)
        assert (await ended(process)).status == 0


async def test_a_refused_token_is_one_line(home: Setup, tmp_path: Path) -> None:
    end = await run("run", in_=tmp_path, settings={**home.settings, "DISCORD_TOKEN": "wrong"})
    assert end.status == 2
    assert "  - Discord refuses DISCORD_TOKEN. Copy the token again" in end.err
    assert "Traceback" not in end.err


async def test_refused_intents_are_one_line(tmp_path: Path) -> None:
    world = World()
    world.bot("Parley", privileged=[])
    async with set_up(world) as home:
        end = await run("run", in_=tmp_path, settings=home.settings)
    assert end.status == 2
    assert "switch on Message Content Intent" in end.err
    assert "Traceback" not in end.err


@pytest.mark.parametrize(
    ("code", "status", "told"),
    [
        (4004, 2, "Discord refuses DISCORD_TOKEN."),
        (4012, 1, "Parley has stopped: Discord closed the connection with code 4012."),
    ],
)
async def test_a_connection_that_discord_ends_for_good_is_told(
    code: int, status: int, told: str, home: Setup, tmp_path: Path
) -> None:
    home.model.says("Hello Alice.")
    async with online(home, tmp_path) as process:
        await home.alice.says("hello", in_=home.desk)
        await home.said("Hello Alice.")
        await home.sandbox.disconnect(home.bot, code)
        end = await ended(process)
    assert end.status == status
    assert told in end.err
    assert "Traceback" not in end.err


async def test_a_discord_that_is_away_is_one_line(home: Setup, tmp_path: Path) -> None:
    away = {**home.settings, "DISCORD_API_BASE": "http://127.0.0.1:9/api/v10"}
    end = await run("run", in_=tmp_path, settings=away)
    assert end.status == 1
    assert "Parley has stopped: Discord cannot be reached: " in end.err
    assert "Traceback" not in end.err


async def test_a_database_that_cannot_be_opened_closes_what_was_open(
    home: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    for name, value in {**home.settings, "DATABASE": str(tmp_path / "file" / "db")}.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    with pytest.raises(StorageError):
        async with open_app(settings):
            raise AssertionError("it did not fail")
    with pytest.raises(StorageError):
        async with open_agent(settings):
            raise AssertionError("it did not fail")


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (4004, "Discord refuses DISCORD_TOKEN."),
        (4013, "Discord does not know an intent"),
        (4014, "switch on Message Content Intent"),
    ],
)
async def test_a_close_code_that_nobody_can_wait_out_ends_it_with_one_line(
    home: Setup, tmp_path: Path, code: int, line: str
) -> None:
    async def refuse() -> None:
        while True:  # as Discord does: the same code at every attempt
            await home.world.faults.closes(home.bot, code)
            await asyncio.sleep(0.1)

    async with online(home, tmp_path) as process:
        refusing = asyncio.create_task(refuse())
        end = await ended(process)
        refusing.cancel()
    assert end.status == 2
    assert line in end.err.splitlines()[-1]
    assert "Traceback" not in end.err


async def test_a_connection_that_breaks_does_not_end_it(home: Setup, tmp_path: Path) -> None:
    home.model.says("Hello Alice.")
    async with online(home, tmp_path):
        home.world.faults.drops(home.bot)
        await home.alice.says("hello", in_=home.desk)
        await home.said("Hello Alice.")


async def test_a_server_has_its_own_way_within_what_the_operator_allows(
    home: Setup, tmp_path: Path
) -> None:
    mod = home.world.person("mod")
    home.desk.guild.join(mod, permissions={"MANAGE_GUILD"})
    home.model.says("Hello Alice.")
    ceiling = {
        "MODELS": "large",
        "MODEL_EXTRAS": "none",
        "SERVER_TOKENS_PER_DAY": "5000",
        "TOOLS": "current_time,roll_dice",
    }
    async with online(home, tmp_path, {"SYSTEM_PROMPT": "Be a pirate.", **ceiling}):
        file = ("prompt.txt", b"Be kind.")
        told = await mod.runs("/settings", in_=home.desk, prompt_file=file)
        assert "- Tools: `current_time`, `roll_dice` *(default)*" in told.text
        assert (
            "- Tokens a day and a month: 5,000 a day, any number a month *(default)*" in told.text
        )
        assert told.message is not None
        await mod.selects(told.message, "What to change", ["Model"])
        await mod.selects(told.message, "Model", ["large"])
        await home.alice.says("hello", in_=home.desk)
        await home.said("Hello Alice.")
    [request] = home.model.requests
    assert request["model"] == "large"
    system = request["messages"][0]["content"]
    assert system.startswith("Be a pirate.\n\nBe kind.\n\n")
    assert '"[from NAME (user-ID)]"' in system
