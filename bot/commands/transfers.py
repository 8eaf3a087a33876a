"""Commands that carry one conversation in or out: import, export."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from bot.commands.parsing import Add, check_database, complain, say, session_id
from bot.errors import SessionExistsError, StorageError, TransferError

T = TypeVar("T")


def add_transfers(add: Add) -> None:
    """Add them to the parser."""
    taking = add("import", _import, "take in a conversation from a file, as a new session")
    taking.add_argument("file", type=Path, metavar="FILE", help="what to import")
    taking.add_argument(
        "--session", type=session_id, required=True, metavar="ID", help="a new session's id"
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
        "--session", type=session_id, required=True, metavar="ID", help="the session's id"
    )
    giving.add_argument("--out", type=Path, metavar="FILE", help="a new file (default: print it)")


def _import(given: argparse.Namespace) -> int:
    from bot.config import load_settings
    from bot.joining.resources import make_store
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
        complain(f"Nothing was imported: {exc}")
        return 1
    left_out = f"; left out: {', '.join(found.left_out)}" if found.left_out else ""
    print(f"{given.file} is now the session {given.session}: {session.last_seq:,} events{left_out}")
    return 0


def _export(given: argparse.Namespace) -> int:
    from bot.config import load_settings
    from bot.joining.resources import make_store
    from bot.storage.private import opener
    from bot.transfer import export_session

    settings = load_settings(given.env_file, discord=False, model=False)
    try:
        check_database(settings)
        exporting = _with(
            make_store(settings),
            lambda store: export_session(store, given.session),
        )
        text = json.dumps(asyncio.run(exporting), ensure_ascii=True, indent=1)
        if given.out is None:
            say(text)
        else:
            with open(given.out, "x", encoding="utf-8", opener=opener) as file:
                file.write(f"{text}\n")
    except (TransferError, StorageError) as exc:
        complain(f"Nothing was exported: {exc}")
        return 1
    except OSError as exc:
        complain(f"Nothing was exported: {given.out or 'standard output'}: {exc.strerror}")
        return 1
    return 0


async def _with(store: Any, work: Callable[[Any], Awaitable[T]]) -> T:
    try:
        return await work(store)
    finally:
        await store.close()
