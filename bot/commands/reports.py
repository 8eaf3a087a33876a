"""Commands that tell what is stored: usage, audit."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Coroutine
from contextlib import aclosing
from typing import Any

from bot.commands.parsing import Add, check_database, complain, day, moment, say
from bot.errors import StorageError


def add_reports(add: Add) -> None:
    """Add them to the parser."""
    usage = add("usage", _usage, "tell how many tokens were used, also while the bot runs")
    usage.add_argument("--csv", action="store_true", help="as CSV; without --by: every call")
    usage.add_argument("--by", choices=("user", "server", "model", "day"), help="what to sum up by")
    usage.add_argument(
        "--since",
        type=day,
        metavar="YYYY-MM-DD",
        help="the first day, by UTC (default: the first of this month)",
    )
    audit = add("audit", _audit, "tell which tool calls were asked for, decided and run")
    audit.add_argument("--json", action="store_true", help="one JSON object a line")
    audit.add_argument(
        "--since", type=moment, metavar="TIME", help="only from then on, such as 2026-01-31"
    )
    audit.add_argument("--session", metavar="SESSION_ID", help="only this conversation")


def _usage(given: argparse.Namespace) -> int:
    from bot.config import load_settings

    settings = load_settings(given.env_file, discord=False, model=False)
    return _told(settings, _tell_usage(settings, given))


def _told(settings: Any, telling: Coroutine[Any, Any, None]) -> int:
    try:
        check_database(settings)
        asyncio.run(telling)
    except StorageError as exc:
        complain(f"Nothing can be told: {exc}")
        return 1
    finally:
        telling.close()
    return 0


async def _tell_usage(settings: Any, given: argparse.Namespace) -> None:
    from bot.commands.usage_report import usage_report
    from bot.joining.resources import make_store
    from bot.sessions.stores.usage import By, UsageStore

    database, by = make_store(settings).database, By(given.by) if given.by else None
    try:
        store = UsageStore(database)
        async for piece in usage_report(store, since=given.since, by=by, csv=given.csv):
            say(piece, end="")
    finally:
        await database.close()


def _audit(given: argparse.Namespace) -> int:
    from bot.config import load_settings

    settings = load_settings(given.env_file, discord=False, model=False)
    return _told(settings, _print_audit(settings, given))


async def _print_audit(settings: Any, given: argparse.Namespace) -> None:
    from bot.agent.audit import whole_audit
    from bot.joining.resources import make_store

    store = make_store(settings)
    try:
        entries = whole_audit(store, since=given.since, session_id=given.session)
        async with aclosing(entries) as found:
            async for entry in found:
                say(entry.to_json() if given.json else str(entry))
    finally:
        await store.close()
