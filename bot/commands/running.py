"""Commands that run the bot, or part of it: run, sandbox, gallery, chat, check."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bot.commands.parsing import Add, complain, session_id
from bot.logs import log_to_stderr


def add_running(add: Add) -> None:
    """Add them to the parser."""
    run = add("run", _run, "run the bot in Discord until it is stopped")
    run.add_argument(
        "--log-format",
        choices=("text", "json"),
        default="text",
        help="log for people, or one JSON object a line (default: text)",
    )
    run.add_argument("--lifeline", action="store_true", help=argparse.SUPPRESS)
    sandbox = add("sandbox", _sandbox, "try the bot in a Discord of its own on this machine")
    sandbox.add_argument("--port", type=int, default=8800, help="the page's port (default: 8800)")
    sandbox.add_argument("--folder", type=Path, help="keep its database here (default: forget it)")
    sandbox.add_argument("--demo", action="store_true", help="play one conversation and end")
    gallery = add("gallery", _gallery, "see hard answers in a Discord of its own on this machine")
    gallery.add_argument("--port", type=int, default=8800, help="the page's port (default: 8800)")
    gallery.add_argument("--once", action="store_true", help="end as soon as all are shown")
    chat = add("chat", _chat, "talk to the agent in this terminal")
    chat.add_argument(
        "session_id",
        nargs="?",
        type=session_id,
        default="console",
        metavar="SESSION_ID",
        help="a conversation to go on with (default: console)",
    )
    check = add("check", _check, "check that everything the bot needs is set up")
    check.add_argument(
        "--health", action="store_true", help="ask the bot that runs here how it is, and end"
    )


def _run(given: argparse.Namespace) -> int:
    with _uncollected():
        from bot.config import failpoints_folder, load_settings

        settings = load_settings(given.env_file)
        if (folder := failpoints_folder()) is not None:
            from bot.failpoints import watch

            watch(folder)
        log_to_stderr(settings.log_level, given.log_format)
        if given.lifeline:
            _stop_at_the_end_of_input()
        from bot.app import preload, run_bot

        preload()
    asyncio.run(run_bot(settings))
    return 0


@contextmanager
def _uncollected() -> Iterator[None]:
    """Import without looking for garbage: there is none, and it is a fifth of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _stop_at_the_end_of_input() -> None:
    """Stop, as if told to, when whoever holds the other end of our input has gone."""

    def watch() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()


def _sandbox(given: argparse.Namespace) -> int:
    from bot.playground.demo import play_demo
    from bot.playground.serve import serve

    log_to_stderr("WARNING")
    if given.demo:
        return asyncio.run(play_demo())
    asyncio.run(serve(env_file=given.env_file, port=given.port, folder=given.folder))
    return 0


def _gallery(given: argparse.Namespace) -> int:
    from bot.playground.gallery import show_gallery

    log_to_stderr("WARNING")
    return asyncio.run(show_gallery(port=given.port, once=given.once))


def _chat(given: argparse.Namespace) -> int:
    from bot.config import load_settings

    settings = load_settings(given.env_file, discord=False)
    log_to_stderr("WARNING")
    asyncio.run(_converse(settings, given.session_id))
    return 0


async def _converse(settings: Any, session_id: str) -> None:
    from bot.app import open_agent
    from bot.console import Console, Lines

    async with open_agent(settings) as (agent, sessions):
        lines = Lines(sys.stdin.fileno())
        console = Console(agent, sessions, lines=lines, session_id=session_id)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, console.interrupt)
        await console.converse()


def _check(given: argparse.Namespace) -> int:
    if given.health:
        return _health(given)
    from bot.check import check

    log_to_stderr("ERROR")
    return asyncio.run(check(given.env_file))


def _health(given: argparse.Namespace) -> int:
    from bot.config import load_settings
    from bot.monitoring.server import ask_health

    settings = load_settings(given.env_file, discord=False, model=False)
    if not settings.metrics_port:
        complain("METRICS_PORT is 0: set it for the bot and for this command.")
        return 2
    well, told = ask_health(settings.metrics_host, settings.metrics_port)
    print(told, end="")
    return 0 if well else 1
