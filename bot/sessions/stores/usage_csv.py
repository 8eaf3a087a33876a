"""Usage as CSV: for spreadsheets, and for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields

from bot.sessions.stores.usage import Sums, Used
from bot.sessions.times import stored_time

SUMS = tuple(each.name for each in fields(Sums))
"""The columns of sums."""

CALLS = (
    *("at", "user_id", "server_id", "session_id", "model", "purpose", "turn_id", "call"),
    *("input_tokens", "output_tokens", "cached_tokens"),
)
"""The columns of calls; what was not told is empty, a zero is not."""


def csv_of(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def sums_row(key: str | int, sums: Sums) -> Sequence[object]:
    """Return the row of sums."""
    return key, *astuple(sums)


def call_row(used: Used) -> Sequence[object]:
    """Return the row of a call."""
    usage = used.usage
    whose = used.user_id, used.server_id, used.session_id, used.model, used.purpose.value
    tokens = usage.input_tokens, usage.output_tokens, usage.cached_tokens
    return stored_time(used.at), *whose, used.turn_id, used.call, *tokens
