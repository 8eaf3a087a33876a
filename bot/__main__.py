"""The command line: python -m bot.

Each command imports what it needs, so that `--help` is quick.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from datetime import UTC, date, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from bot.errors import ConfigError, ParleyError, SessionExistsError, StorageError, TransferError
from bot.logs import log_to_stderr

T = TypeVar("T")

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
    log_to_stderr(settings.log_level, given.log_format)
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

    log_to_stderr("WARNING")
    if given.demo:
        return asyncio.run(playground.play_demo())
    asyncio.run(playground.serve(env_file=given.env_file, port=given.port, folder=given.folder))
    return 0


def _gallery(given: argparse.Namespace) -> int:
    from bot import playground

    log_to_stderr("WARNING")
    return asyncio.run(playground.show_gallery(port=given.port, once=given.once))


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
        raise ConfigError("METRICS_PORT is 0: set it for the bot and for this command.")
    well, told = ask_health(settings.metrics_host, settings.metrics_port)
    print(told, end="")
    return 0 if well else 1


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


def _import(given: argparse.Namespace) -> int:
    from bot.app import make_store
    from bot.config import load_settings
    from bot.transfer import read_file, take_in

    settings = load_settings(given.env_file, discord=False, model=False)
    try:
        found = read_file(given.file, given.format, given.theirs)
        taking = _with(
            make_store(settings),
            lambda store: take_in(store, given.session, found),
        )
        session = asyncio.run(taking)
    except (TransferError, SessionExistsError) as exc:
        _complain(f"Nothing was imported: {exc}")
        return 1
    left_out = f"; left out: {', '.join(found.left_out)}" if found.left_out else ""
    print(f"{given.file} is now the session {given.session}: {session.last_seq:,} events{left_out}")
    return 0


def _export(given: argparse.Namespace) -> int:
    from bot.app import make_store
    from bot.config import load_settings
    from bot.transfer import export_session

    settings = load_settings(given.env_file, discord=False, model=False)
    try:
        exporting = _with(
            make_store(settings),
            lambda store: export_session(store, given.session),
        )
        text = json.dumps(asyncio.run(exporting), ensure_ascii=True, indent=1)
        if given.out is None:
            print(text)
        else:
            with given.out.open("x", encoding="utf-8") as file:
                file.write(f"{text}\n")
    except (TransferError, OSError) as exc:
        _complain(f"Nothing was exported: {exc}")
        return 1
    return 0


async def _with(store: Any, work: Callable[[Any], Awaitable[T]]) -> T:
    try:
        return await work(store)
    finally:
        await store.close()


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


def _audit(given: argparse.Namespace) -> int:
    from bot.config import load_settings

    settings = load_settings(given.env_file, discord=False, model=False)
    served = bool(settings.database_url.get_secret_value())
    if not served and not settings.database.is_file():
        raise ConfigError(f"there is no database {settings.database}")
    asyncio.run(_print_audit(settings, given))
    return 0


async def _print_audit(settings: Any, given: argparse.Namespace) -> None:
    from bot.agent.audit import whole_audit
    from bot.app import make_store

    store = make_store(settings)
    try:
        entries = whole_audit(store, since=given.since, session_id=given.session)
        async with aclosing(entries) as found:
            async for entry in found:
                print(entry.to_json() if given.json else entry)
    finally:
        await store.close()


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
        type=_session_id,
        default="console",
        metavar="SESSION_ID",
        help="a conversation to go on with (default: console)",
    )
    check = add("check", _check, "check that everything the bot needs is set up")
    check.add_argument(
        "--health", action="store_true", help="ask the bot that runs here how it is, and end"
    )
    backup = add("backup", _backup, "copy the database, also while the bot runs")
    backup.add_argument("file", type=Path, metavar="FILE", help="where the copy goes")
    backup.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    moving = add("migrate-store", _migrate_store, "move everything into another, empty database")
    for name, text in (("source", "the database to read"), ("target", "the one to fill")):
        where = "sqlite:///parley.db (sqlite:////absolute/path) or postgresql://..."
        moving.add_argument(name, metavar=name.upper(), help=f"{text}: {where}")
    taking = add("import", _import, "make a conversation from a file a session of the bot's")
    taking.add_argument("file", type=Path, metavar="FILE", help="what to import")
    taking.add_argument(
        "--session", type=_session_id, required=True, metavar="ID", help="a new session's id"
    )
    taking.add_argument(
        "--format",
        choices=("auto", "nagents", "openai", "parley"),
        default="auto",
        help="nagents: its SQLite file; openai: messages as JSON or JSONL; parley: an export",
    )
    taking.add_argument(
        "--from", dest="theirs", metavar="ID", help="which session, of a file that has several"
    )
    giving = add("export", _export, "write the whole log of a session as JSON")
    giving.add_argument(
        "--session", type=_session_id, required=True, metavar="ID", help="the session's id"
    )
    giving.add_argument("--out", type=Path, metavar="FILE", help="a new file (default: print it)")
    usage = add("usage", _usage, "tell how many tokens were used, also while the bot runs")
    usage.add_argument("--csv", action="store_true", help="as CSV; without --by: every call")
    usage.add_argument("--by", choices=("user", "server", "model", "day"), help="what to sum up by")
    usage.add_argument(
        "--since",
        type=_day,
        metavar="YYYY-MM-DD",
        help="the first day, by UTC (default: the first of this month)",
    )
    audit = add("audit", _audit, "tell which tool calls were asked for, decided and run")
    audit.add_argument("--json", action="store_true", help="one JSON object a line")
    audit.add_argument(
        "--since", type=_time, metavar="TIME", help="only from then on, such as 2026-01-31"
    )
    audit.add_argument("--session", metavar="SESSION_ID", help="only this conversation")
    return parser


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text!r} is no day like 2026-11-29") from exc


def _time(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text} is not a date or time") from exc
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _session_id(text: str) -> str:
    from bot.sessions import check_session_id

    try:
        check_session_id(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(str(exc)) from exc
    return text


def _complain(first: str, *lines: str) -> None:
    print(first, *(f"  - {line}" for line in lines), sep="\n", file=sys.stderr)


def _version() -> str:
    try:
        return version("parley")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    sys.exit(main())
