"""Commands about the database as a whole: backup, migrate-store."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from bot.commands.parsing import Add, complain, say
from bot.errors import ConfigError, StorageError


def add_databases(add: Add) -> None:
    """Add them to the parser."""
    backup = add("backup", _backup, "copy the database, also while the bot runs")
    backup.add_argument("file", type=Path, metavar="FILE", help="where the copy goes")
    backup.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    moving = add("migrate-store", _migrate_store, "move everything into another, empty database")
    for name, text in (("source", "the database to read"), ("target", "the one to fill")):
        where = "sqlite:///parley.db (sqlite:////absolute/path) or postgresql://..."
        moving.add_argument(name, metavar=name.upper(), help=f"{text}: {where}")


def _backup(given: argparse.Namespace) -> int:
    from bot.config import load_settings
    from bot.storage.backup import back_up

    settings = load_settings(given.env_file, discord=False, model=False)
    database = settings.database
    if settings.database_url.get_secret_value():
        complain("No backup was made: the conversations are in PostgreSQL, use its pg_dump.")
        return 1
    started = time.monotonic()
    try:
        copied = back_up(database, given.file, overwrite=given.force)
    except StorageError as exc:
        complain(f"No backup was made: {exc}")
        return 1
    print(
        f"{database} is copied to {given.file}, and checked: {copied.sessions:,} sessions, "
        f"{copied.size / 1e6:,.1f} MB, {time.monotonic() - started:.1f} s"
    )
    return 0


def _migrate_store(given: argparse.Namespace) -> int:
    from bot.storage.moving import move

    try:
        moved = move(
            given.source,
            given.target,
            told=lambda each: say(f"{each.table:<20} {each.rows:>10,}  {each.digest[:16]}"),
        )
    except ConfigError as exc:
        complain(f"Nothing was moved: {exc}")
        return 2
    except StorageError as exc:
        complain(f"Nothing was moved: {exc}")
        return 1
    if marked := sum(each.marked for each in moved):
        say(f"{marked:,} rows had characters that not every database keeps: each is now \ufffd.")
    say("All of it is there, and the same. The source is as it was: let no bot use it any more.")
    return 0
