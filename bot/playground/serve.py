"""The sandbox for a person with a browser: it runs until it is stopped."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bot import sandbox
from bot.config import MCP_FILE, Settings, given, is_set, load_settings
from bot.ending import ending
from bot.errors import ParleyError
from bot.playground.stage import BotProcess, make_stage
from bot.sandbox import Bot, Sandbox
from bot.sandbox.model import DemoModel, serve_model
from bot.sessions import SQLiteSessionManager
from bot.sessions.stores.applications import ApplicationStore

ENDING = 30.0
"""Seconds after which a sandbox that should end is ended."""
LONGEST_PAUSE = 30.0
"""Seconds before a bot that ends again and again is started once more."""
WRONG_SETTINGS = 2
"""The exit status of a bot that cannot start."""

MODEL = (
    "openai_api_key",
    "openai_base_url",
    "openai_model",
    "provider",
    "model_idle_seconds",
)
"""Settings that hold here too where a real model is set up."""

KEPT = (
    "max_steps",
    "context_window",
    "compact_at",
    "mcp_config",
    "system_prompt",
    "system_prompt_file",
    "reply_mode",
    "policy_file",
    "approval_hours",
    "log_level",
)
"""Settings that always hold here too."""

STARTING = "Parley's sandbox: starting the bot ..."
GREETING = """\
A little Discord on this machine, for which nobody needs an account:

    {page}

Open this address. You can be wren or bob, or mona, who moderates and may approve.
In #talk the bot answers everything; say: help. Elsewhere it answers when you mention it: @Parley
{model}
Ctrl-C ends it; what was said here is then forgotten.
"""
SCRIPTED = """\
Its answers are scripted: a few rules, no AI model. With an OPENAI_API_KEY a model answers."""
NOTICE = """\
The answers here are **scripted**: a few rules, no AI model. For a real one, set `OPENAI_API_KEY` \
(and `OPENAI_BASE_URL` for any service that speaks OpenAI's protocol) in `.env` and start again."""
REAL = "Its answers come from {model} ({service}), as your settings say."


async def serve(*, env_file: Path | None, port: int, folder: Path | None) -> None:
    """Run a sandbox, the bot in it, and a scripted model unless a real one is set up.

    Raises:
        ConfigError: if a real model is set up and something about it is wrong.
        ParleyError: if the port cannot be used, or the bot does not start at all.
    """
    real = is_set("openai_api_key", env_file) or is_set("openai_base_url", env_file)
    settings = load_settings(env_file, discord=False) if real else None
    stage = make_stage()
    stage.world.limits = sandbox.REAL_LIMITS
    bot: BotProcess | None = None

    async def restart() -> None:
        if bot is not None:
            await restarted(bot, running, stage.bot)

    async with AsyncExitStack() as stack:
        stop = stack.enter_context(ending(ENDING)).asked
        try:
            page = sandbox.serve(stage.world, port=port, notice=_notice(settings), restart=restart)
            running = await stack.enter_async_context(page)
        except OSError as exc:
            raise ParleyError(f"port {port} cannot be used, choose another --port: {exc}") from exc
        kept = folder or Path(stack.enter_context(TemporaryDirectory(prefix="parley-")))
        values = {**stage.settings(running, kept), "MCP_CONFIG": str(MCP_FILE)}
        values["TOOLS"] = _tools(values["TOOLS"], given("tools", env_file))
        await _adopt(Path(values["DATABASE"]), stage.bot)
        if settings is None:
            model = await stack.enter_async_context(serve_model(DemoModel()))
            values |= {"OPENAI_BASE_URL": model.base_url, "OPENAI_MODEL": "scripted"}
        bot = BotProcess(values, env_file=env_file, keep=(*KEPT, *MODEL) if real else KEPT)
        stack.push_async_callback(bot.stop)
        greeting = GREETING.format(page=running.page_url, model=_answers_by(settings))
        async with greeted(running, stage.bot, greeting):
            await keep_running(bot, stop)


async def _adopt(database: Path, bot: Bot) -> None:
    """Let a database that was kept belong to this bot: each sandbox has a new one."""
    store = SQLiteSessionManager(database)
    try:
        await ApplicationStore(store.database).adopt(bot.application_id)
    finally:
        await store.close()


@asynccontextmanager
async def greeted(running: Sandbox, bot: Bot, greeting: str) -> AsyncIterator[None]:
    """Say the greeting once the bot is there, while the block lasts.

    Before that it hears nothing, and a bot without a past does not look for what it missed.
    """

    async def greet() -> None:
        await running.connected(bot, math.inf)
        _say(greeting)

    _say(STARTING)
    greeting_soon = asyncio.create_task(greet())
    try:
        yield
    finally:
        greeting_soon.cancel()
        await asyncio.wait({greeting_soon})


async def restarted(process: BotProcess, running: Sandbox, bot: Bot) -> None:
    """End the bot's process, and return once the next one is there."""
    await process.restart()
    left = running.connections  # what it has left may not be noticed yet
    await running.connected(bot, besides=left)


async def keep_running(bot: BotProcess, stop: asyncio.Event) -> None:
    """Run the bot until `stop` is set; start it again, ever less often, when it ends.

    Raises:
        ParleyError: if it refuses its settings.
    """
    stopping = asyncio.create_task(stop.wait())
    try:
        failures = 0
        while True:
            await bot.start()
            ended = asyncio.create_task(bot.wait())
            await asyncio.wait({ended, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if stopping.done():
                await bot.stop()
                await ended
                return
            if await ended == WRONG_SETTINGS:
                raise ParleyError("the bot does not start with these settings")
            if bot.is_wanted_again():
                continue
            _say(f"The bot has ended (status {ended.result()}); it is started again.")
            await asyncio.wait({stopping}, timeout=min(2**failures, LONGEST_PAUSE))
            failures += 1
    finally:
        stopping.cancel()


def _tools(here: str, chosen: str | None) -> str:
    """Return the tools that the sandbox shows, and those of the settings beside them."""
    more = [each for each in (chosen or "").replace(",", " ").split() if each != "none"]
    return ",".join(dict.fromkeys([*here.split(","), *more]))


def _answers_by(settings: Settings | None) -> str:
    if settings is None:
        return SCRIPTED
    return REAL.format(model=settings.openai_model, service=settings.service)


def _notice(settings: Settings | None) -> str | None:
    return NOTICE if settings is None else None


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
