"""What was used, told on the command line: read only, also while the bot runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import date

from bot.events import utc_now
from bot.sessions.stores.periods import Period, Span
from bot.sessions.stores.usage import By, Sums, UsageStore
from bot.sessions.stores.usage_csv import CALLS, SUMS, call_row, csv_of, sums_row

COLUMNS = ("calls", "input", "output", "cached", "unknown")
PAGE = 1000


async def usage_report(
    store: UsageStore, *, since: date | None = None, by: By | None = None, csv: bool = False
) -> AsyncIterator[str]:
    """Give a report in pieces.

    Args:
        store: What was used.
        since: The first day, by UTC; by default the first of this month.
        by: What it is told apart by; by default each call in CSV, and people in a table.
        csv: Whether it is CSV, or a table for people.
    """
    since = since or Period.around(Span.MONTH, utc_now()).first
    if by is None and csv:
        async for piece in _calls(store, since):
            yield piece
        return
    by = by or By.USER
    found = await store.by(by, since)
    if csv:
        yield csv_of([(by.value, *SUMS), *(sums_row(key, sums) for key, sums in found)])
    else:
        yield _table(by, since, found)


async def _calls(store: UsageStore, since: date) -> AsyncIterator[str]:
    yield csv_of([CALLS])
    page = await store.calls(since, limit=PAGE)
    while page:
        yield csv_of(map(call_row, page))
        page = await store.calls(since, after=page[-1], limit=PAGE)


def _table(by: By, since: date, found: Sequence[tuple[str | int, Sums]]) -> str:
    if not found:
        return f"Nothing was used since {since}.\n"
    total = sum((sums for _, sums in found), Sums())
    rows: list[Sequence[str]] = [(by.value, *COLUMNS)]
    rows += [(_name(by, key), *_cells(sums)) for key, sums in found]
    rows += [("all", *_cells(total))] if len(found) > 1 else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
    note = "unknown: calls of which the service told no tokens; they count nothing.\n"
    return "\n".join([f"Tokens since {since} (UTC)", "", *lines, ""]) + (
        f"\n{note}" if total.untold else ""
    )


def _cells(sums: Sums) -> tuple[str, ...]:
    tokens = sums.input_tokens, sums.output_tokens, sums.cached_tokens
    return tuple(f"{each:,}" for each in (sums.calls, *tokens, sums.untold))


def _name(by: By, key: str | int) -> str:
    match by:
        case By.USER:
            return str(key) or "(unknown)"
        case By.SERVER:
            return str(key or "(none)")
        case _:
            return str(key)
