"""The bot in the sandbox: it is started again when it dies, unless it cannot start."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from bot.errors import ParleyError
from bot.playground.demo import play_demo
from bot.playground.serve import STARTING, greeted, keep_running, restarted
from bot.playground.stage import BotProcess, make_stage
from bot.sandbox import serve
from bot.sandbox.model import ScriptedModel, serve_model
from tests.forking.client import create_forked
from tests.setups import PATIENCE


async def test_a_bot_that_dies_is_started_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage, stop = make_stage(), asyncio.Event()
    async with serve(stage.world) as sandbox, serve_model(ScriptedModel()) as model:
        values = {"OPENAI_BASE_URL": model.base_url, "OPENAI_MODEL": "scripted"}
        bot = BotProcess({**stage.settings(sandbox, tmp_path), **values}, create=create_forked)
        running = asyncio.create_task(keep_running(bot, stop))
        await sandbox.connected(stage.bot, PATIENCE)
        os.kill(bot.pid, signal.SIGKILL)
        await sandbox.disconnected(stage.bot, PATIENCE)
        await sandbox.connected(stage.bot, PATIENCE)
        stop.set()
        await running
    assert "The bot has ended (status -9); it is started again." in capsys.readouterr().out
    assert await bot.wait() == 0


async def test_a_bot_that_is_to_restart_does_so_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage, stop = make_stage(), asyncio.Event()
    async with serve(stage.world) as sandbox, serve_model(ScriptedModel()) as model:
        values = {"OPENAI_BASE_URL": model.base_url, "OPENAI_MODEL": "scripted"}
        bot = BotProcess({**stage.settings(sandbox, tmp_path), **values}, create=create_forked)
        running = asyncio.create_task(keep_running(bot, stop))
        await sandbox.connected(stage.bot, PATIENCE)
        before = bot.pid
        await restarted(bot, sandbox, stage.bot)
        assert bot.pid != before
        assert sandbox.connections
        stop.set()
        await running
    assert "started again" not in capsys.readouterr().out


async def test_a_visitor_is_greeted_once_the_bot_hears_what_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage, stop = make_stage(), asyncio.Event()
    said = ScriptedModel().says("Hello wren.")
    async with serve(stage.world) as sandbox, serve_model(said) as model:
        values = {"OPENAI_BASE_URL": model.base_url, "OPENAI_MODEL": "scripted"}
        bot = BotProcess({**stage.settings(sandbox, tmp_path), **values})
        async with greeted(sandbox, stage.bot, "Come in."):
            running = asyncio.create_task(keep_running(bot, stop))
            await stage.world.pulse.next_beat().wait()
            assert capsys.readouterr().out == f"{STARTING}\n"
            await sandbox.connected(stage.bot, PATIENCE)
            await stage.wren.says("hello", in_=stage.talk)
            await stage.talk.until(lambda messages: len(messages) > 1, PATIENCE)
        stop.set()
        await running
    assert capsys.readouterr().out == "Come in.\n"


async def test_a_visitor_begins_where_everything_is_answered() -> None:
    stage = make_stage()
    assert next(iter(stage.world.places.values())) is stage.talk


async def test_a_bot_that_cannot_start_is_not_started_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stage = make_stage()
    async with serve(stage.world) as sandbox:
        bot = BotProcess(stage.settings(sandbox, tmp_path))
        with pytest.raises(ParleyError, match="does not start with these settings"):
            await keep_running(bot, asyncio.Event())
    assert "OPENAI_API_KEY is missing" in capfd.readouterr().err


async def test_a_demo_in_which_something_does_not_happen_fails_and_says_what(
    capsys: pytest.CaptureFixture[str],
) -> None:
    silent = ScriptedModel().answers(lambda request: "I do not care.")
    assert await play_demo(silent, patience=3.0) == 1
    shown = capsys.readouterr().out
    assert "This did not happen: it never held" in shown
    assert "my name is Alice" in shown
    assert "All of it happened" not in shown
