"""The command line: python -m bot.

Each command imports what it needs, so that `--help` is quick.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bot.errors import ConfigError, ParleyError, StorageError

EPILOG = """\
Settings come from the environment and from .env in the working directory; .env.example names
them all. To try Parley without any account: python -m bot sandbox"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status: 2 for wrong settings, 1 for other failures."""
    given = _parser().parse_args(arguments)
    try:
        status: int = given.command(given)
    except ConfigError as exc:
        _complain("Parley cannot start:", *exc.problems)
        return 2
    except ParleyError as exc:
        _complain(f"Parley has stopped: {exc}")
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return status


def _run(given: argparse.Namespace) -> int:
    from bot.config import failpoints_folder, load_settings

    settings = load_settings(given.env_file)
    if (folder := failpoints_folder()) is not None:
        from bot.failpoints import watch

        watch(folder)
    _log_to_stderr(settings.log_level)
    if given.lifeline:
        _stop_at_the_end_of_input()
    from bot.app import preload, run_bot

    preload()
    asyncio.run(run_bot(settings))
    return 0


def _stop_at_the_end_of_input() -> None:
    """Stop, as if told to, when whoever holds the other end of our input has gone."""

    def watch() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()


def _sandbox(given: argparse.Namespace) -> int:
    from bot import playground

    _log_to_stderr("WARNING")
    if given.demo:
        return asyncio.run(playground.play_demo())
    asyncio.run(playground.serve(env_file=given.env_file, port=given.port, folder=given.folder))
    return 0


def _gallery(given: argparse.Namespace) -> int:
    from bot import playground

    _log_to_stderr("WARNING")
    return asyncio.run(playground.show_gallery(port=given.port, once=given.once))


def _chat(given: argparse.Namespace) -> int:
    from bot.config import load_settings

    settings = load_settings(given.env_file, discord=False)
    _log_to_stderr("WARNING")
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
    from bot.check import check

    _log_to_stderr("ERROR")
    return asyncio.run(check(given.env_file))


def _backup(given: argparse.Namespace) -> int:
    from bot.config import load_settings
    from bot.storage.backup import back_up

    settings = load_settings(given.env_file, discord=False, model=False)
    database = settings.database
    if settings.database_url.get_secret_value():
        _complain("No backup was made: the conversations are in PostgreSQL, use its pg_dump.")
        return 1
    started = time.monotonic()
    try:
        copied = back_up(database, given.file, overwrite=given.force)
    except StorageError as exc:
        _complain(f"No backup was made: {exc}")
        return 1
    print(
        f"{database} is copied to {given.file}, and checked: {copied.sessions:,} sessions, "
        f"{copied.size / 1e6:,.1f} MB, {time.monotonic() - started:.1f} s"
    )
    return 0


def _migrate_store(given: argparse.Namespace) -> int:
    from bot.storage.moving import move

    try:
        move(
            given.source,
            given.target,
            told=lambda moved: print(f"{moved.table:<20} {moved.rows:>10,}  {moved.digest[:16]}"),
        )
    except StorageError as exc:
        _complain(f"Nothing was moved: {exc}")
        return 1
    print("All of it is there, and the same. The source is as it was: let no bot use it any more.")
    return 0


def _usage(given: argparse.Namespace) -> int:
    from bot.config import load_settings

    settings = load_settings(given.env_file, discord=False, model=False)
    served = bool(settings.database_url.get_secret_value())
    if not served and not settings.database.is_file():
        raise StorageError(f"there is no database {settings.database}")
    asyncio.run(_tell_usage(settings, given))
    return 0


async def _tell_usage(settings: Any, given: argparse.Namespace) -> None:
    from bot.app import make_store
    from bot.sessions.usage import By, UsageStore
    from bot.usage import usage_report

    database, by = make_store(settings).database, By(given.by) if given.by else None
    try:
        store = UsageStore(database)
        async for piece in usage_report(store, since=given.since, by=by, csv=given.csv):
            print(piece, end="")
    finally:
        await database.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bot",
        description="Parley: a Discord bot that remembers, streams, and asks before it acts.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"Parley {_version()}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, command: Callable[[argparse.Namespace], int], text: str) -> Any:
        made = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        made.set_defaults(command=command)
        made.add_argument(
            "--env-file", type=Path, metavar="FILE", help="read settings from here, not from .env"
        )
        return made

    run = add("run", _run, "run the bot in Discord until it is stopped")
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
        type=_session_id,
        default="console",
        metavar="SESSION_ID",
        help="a conversation to go on with (default: console)",
    )
    add("check", _check, "check that everything the bot needs is set up")
    backup = add("backup", _backup, "copy the database, also while the bot runs")
    backup.add_argument("file", type=Path, metavar="FILE", help="where the copy goes")
    backup.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    moving = add("migrate-store", _migrate_store, "move everything into another, empty database")
    for name, text in (("source", "the database to read"), ("target", "the one to fill")):
        where = "sqlite:///parley.db (sqlite:////absolute/path) or postgresql://..."
        moving.add_argument(name, metavar=name.upper(), help=f"{text}: {where}")
    usage = add("usage", _usage, "tell how many tokens were used, also while the bot runs")
    usage.add_argument("--csv", action="store_true", help="as CSV; without --by: every call")
    usage.add_argument("--by", choices=("user", "server", "model", "day"), help="what to sum up by")
    usage.add_argument(
        "--since",
        type=_day,
        metavar="YYYY-MM-DD",
        help="the first day, by UTC (default: the first of this month)",
    )
    return parser


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text!r} is no day like 2026-11-29") from exc


def _session_id(text: str) -> str:
    from bot.sessions import check_session_id

    try:
        check_session_id(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(str(exc)) from exc
    return text


def _complain(first: str, *lines: str) -> None:
    print(first, *(f"  - {line}" for line in lines), sep="\n", file=sys.stderr)


def _log_to_stderr(level: str) -> None:
    """Log ours at this level, and of others what matters: they would log what people write."""
    logging.basicConfig(format="%(asctime)s %(levelname)-7s %(name)s: %(message)s")
    logging.getLogger("bot").setLevel(level)
    logging.getLogger("discord").setLevel(max(logging.INFO, logging.getLevelName(level)))
    logging.getLogger("discord.client").addFilter(_is_not_about_voice)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it would log all that servers print


def _is_not_about_voice(record: logging.LogRecord) -> bool:
    """Whether it is not the advice to install what only voice needs."""
    return "voice will NOT be supported" not in str(record.msg)


def _version() -> str:
    try:
        return version("parley")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    sys.exit(main())
