"""Reading a file, in whichever format it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bot.errors import TransferError
from bot.transfer.chat import conversation
from bot.transfer.conversation import Conversation, Told
from bot.transfer.nagents import read_nagents
from bot.transfer.own import FORMAT, read_own

FORMATS = ("auto", "nagents", "openai", "parley")
MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What reading runs into where a file has values of another kind than its format says."""

_SQLITE = b"SQLite format 3\0"


def read_file(path: Path, kind: str = "auto", theirs: str | None = None) -> Conversation:
    """Return the conversation that is in a file.

    Args:
        path: The file.
        kind: One of the formats; `auto`: what it looks like.
        theirs: Which of several sessions, by the id that it has there.

    Raises:
        TransferError: if it cannot be read, naming the place in it.
    """
    try:
        return _read(path, kind, theirs)
    except MALFORMED as exc:
        raise TransferError(f"{path}: something in it is not as it should be: {exc}") from exc


def _read(path: Path, kind: str, theirs: str | None) -> Conversation:
    try:
        with path.open("rb") as file:
            is_database = file.read(len(_SQLITE)) == _SQLITE
        if kind == "nagents" or (kind == "auto" and is_database):
            return read_nagents(path, theirs)
        text = path.read_text(encoding="utf-8-sig")
    except OSError as exc:
        raise TransferError(f"{path}: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise TransferError(f"{path}: {exc}") from exc
    try:
        return _read_text(text, kind)
    except TransferError as exc:
        raise TransferError(f"{path}: {exc}") from exc


def _read_text(text: str, kind: str) -> Conversation:
    try:
        data = json.loads(text)
    except ValueError:
        if kind == "parley":
            raise TransferError("it is not JSON") from None
        return conversation(_lines(text))
    is_own = isinstance(data, dict) and data.get("format") == FORMAT
    if is_own and kind != "openai":
        return read_own(data)
    if kind == "parley":
        raise TransferError("it is no export of Parley")
    return conversation(_listed(data))


def _listed(data: Any) -> Iterator[Told]:
    """Give the messages of a list, of an object that has one, or a single one."""
    if isinstance(data, dict):
        data = data.get("messages", [data])
    if not isinstance(data, list):
        raise TransferError("it is no list of messages")
    for number, message in enumerate(data, 1):
        yield _told(f"message {number}", message)


def _lines(text: str) -> Iterator[Told]:
    """Give the messages of a file that has one a line, or one conversation on its only line."""
    number = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                message = json.loads(line)
            except ValueError as exc:
                raise TransferError(f"line {number}: it is not JSON ({exc})") from exc
            yield _told(f"line {number}", message)


def _told(where: str, message: Any) -> Told:
    if not isinstance(message, dict):
        raise TransferError(f"{where}: it is no object")
    if "messages" in message and "role" not in message:
        raise TransferError(f"{where}: it is a conversation of its own; a file is one")
    return Told(where=where, message=message)
