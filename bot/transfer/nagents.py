"""Sessions of nagents, as its SQLite file keeps them (its schema, versions 1 and later)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.errors import TransferError
from bot.storage.foreign import ForeignFile, Row, foreign
from bot.transfer.chat import conversation
from bot.transfer.conversation import Conversation, Told

NAMED = 10  # sessions that an error names


def read_nagents(path: Path, theirs: str | None) -> Conversation:
    """Return a session of a file; without its id the only one.

    Raises:
        TransferError: if there is none, or something in it cannot be taken in.
    """
    with foreign(path) as file:
        if not file.columns("v2_messages") or not file.columns("v2_sessions"):
            raise TransferError(f"{path}: it has no sessions of nagents")
        session = _chosen(file, path, theirs)
        messages = "SELECT * FROM v2_messages WHERE session_id = ? ORDER BY id"
        told = list(_told(file.rows(messages, session["id"]), session))
        return conversation(told, session["user_id"])


def _chosen(file: ForeignFile, path: Path, theirs: str | None) -> Row:
    sessions = {row["id"]: row for row in file.rows("SELECT * FROM v2_sessions ORDER BY id")}
    if theirs is None and len(sessions) == 1:
        return next(iter(sessions.values()))
    if theirs in sessions:
        return sessions[theirs]
    names = ", ".join(repr(each) for each in list(sessions)[:NAMED]) or "none"
    more = f" and {len(sessions) - NAMED} more" if len(sessions) > NAMED else ""
    asked = "say which with --from" if theirs is None else f"there is no {theirs!r}"
    raise TransferError(f"{path}: {asked}; there are {names}{more}")


def _told(rows: Iterator[Row], session: Row) -> Iterator[Told]:
    boundary = session.get("compacted_at_message_id")
    for number, row in enumerate(rows, 1):
        where = f"message {number} (id {row['id']})"
        message = {
            "role": row["role"],
            "content": _content(row["content"]),
            "tool_calls": [_call(each, where) for each in _calls(row["tool_calls"], where)],
            "tool_call_id": row["tool_call_id"],
            "name": row["name"] if row["role"] == "tool" else None,
        }
        yield Told(
            where=where,
            message=message,
            at=_time(row["created_at"]),
            boundary=row["id"] == boundary,
        )


def _content(content: str | None) -> object:
    """Return a content: parts stand there as JSON, as an ordinary text may too."""
    if content is None or not content.startswith("["):
        return content
    try:
        parts = json.loads(content)
    except ValueError:
        return content
    is_parts = parts and all(isinstance(each, dict) and "type" in each for each in parts)
    return parts if is_parts else content


def _calls(text: str | None, where: str) -> list[Any]:
    try:
        calls = json.loads(text) if text else []
    except ValueError as exc:
        raise TransferError(f"{where}: its tool calls are not JSON") from exc
    if not isinstance(calls, list):
        raise TransferError(f"{where}: its tool calls are no list")
    return calls


def _call(call: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(call, dict):
        raise TransferError(f"{where}: its tool calls are no list of objects")
    function = {"name": call.get("name"), "arguments": call.get("arguments", {})}
    return {"id": call.get("id"), "function": function}


def _time(text: str | None) -> datetime | None:
    """Return a time as SQLite writes it: in UTC, without saying so."""
    try:
        return datetime.fromisoformat(text or "").replace(tzinfo=UTC)
    except ValueError:
        return None
