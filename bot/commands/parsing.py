"""What the commands' parsers share."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any, Protocol

from bot.errors import StorageError

Command = Callable[[argparse.Namespace], int]


class Add(Protocol):
    """Adds a command to the parser, and returns its own parser for its arguments."""

    def __call__(self, name: str, command: Command, text: str, /) -> Any:
        """Add a command by its name, with one line that tells what it does."""
        ...


def complain(first: str, *lines: str) -> None:
    """Print what went wrong where errors go."""
    print(first, *(f"  - {line}" for line in lines), sep="\n", file=sys.stderr)


def say(text: str, end: str = "\n") -> None:
    """Print a text at once; when nobody reads what is printed any more, nobody is told any more."""
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_database(settings: Any) -> None:
    """Refuse to read a database that is not there: none is made for a question about it.

    Raises:
        StorageError: if there is none.
    """
    served = bool(settings.database_url.get_secret_value())
    if not served and not settings.database.is_file():
        raise StorageError(f"there is no database {settings.database}")


def day(text: str) -> date:
    """Return the day that an argument names."""
    try:
        return date.fromisoformat(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text!r} is no day like 2026-11-29") from exc


def moment(text: str) -> datetime:
    """Return the time that an argument names, by UTC unless it says otherwise."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text} is not a date or time") from exc
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def session_id(text: str) -> str:
    """Return an argument that names a session."""
    from bot.sessions import check_session_id

    try:
        check_session_id(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(str(exc)) from exc
    return text
