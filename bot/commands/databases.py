"""Commands about the database as a whole: backup, migrate-store, adopt."""

from __future__ import annotations

import argparse
import asyncio
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from bot.commands.parsing import Add, check_database, complain, say
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
    add("adopt", _adopt, "let the database belong to the application of DISCORD_TOKEN")


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


def _adopt(given: argparse.Namespace) -> int:
    from bot.config import load_settings

    settings = load_settings(given.env_file, model=False)
    try:
        check_database(settings)
        return asyncio.run(_let_it_have(settings))
    except StorageError as exc:
        complain(f"Nothing was changed: {exc}")
        return 1


async def _let_it_have(settings: Any) -> int:
    """Give the database to the application of the token.

    Raises:
        ConfigError: if a bot works with the file.
        StorageError: if others work with the database, or it cannot be read or written.
    """
    from bot.check import Account, ask_discord
    from bot.joining.resources import make_store
    from bot.sessions.stores.applications import ApplicationStore

    account = await ask_discord(settings)
    if not isinstance(account, Account):
        complain(f"Nothing was changed: {account.text}")
        return 1
    with _no_bot(settings):
        store = make_store(settings)
        try:
            news = await ApplicationStore(store.database).adopt(account.application_id)
        finally:
            await store.close()
    whose = f"belongs to {account.bot['username']} ({account.application_id})"
    say(f"The database {whose} {'now' if news else 'already'}.")
    return 0


def _no_bot(settings: Any) -> AbstractContextManager[None]:
    """Refuse a database that a bot works with."""
    from bot.storage.claim import claimed
    from bot.storage.ends import source

    url = settings.database_url.get_secret_value()
    if not url:
        return claimed(settings.database)
    with source(url):
        return nullcontext()
