"""Usage: what each call of a model used, for whom and where; summed up by day."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from datetime import date, datetime
from enum import StrEnum

from bot.events import Usage, utc_now
from bot.sessions.stores.periods import Period, Span
from bot.sessions.times import stored_time
from bot.storage import Connection, Database

_ADD = """
    INSERT INTO usage (turn_id, call, at, purpose, user_id, server_id, session_id, model,
                       input_tokens, output_tokens, cached_tokens)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"""

_COUNTS = ("calls", "untold", "input_tokens", "output_tokens", "cached_tokens")


def _adding(table: str, keys: Sequence[str], rows: str) -> str:
    """Return a statement that adds rows to the sums of their keys."""
    added = ", ".join(f"{each} = {table}.{each} + excluded.{each}" for each in _COUNTS)
    return f"""
        INSERT INTO {table} ({", ".join((*keys, *_COUNTS))}) {rows}
        ON CONFLICT ({", ".join(keys)}) DO UPDATE SET {added}"""


NOWHERE = -1
"""The server of sums that are kept for a budget alone, of people who were forgotten."""

_BY_PERSON = ("server_id", "day", "user_id")
_ADD_TO_PERSON = _adding("usage_days", _BY_PERSON, "VALUES (?, ?, ?, 1, ?, ?, ?, ?)")
_ADD_TO_SERVER = _adding("usage_server_days", ("server_id", "day"), "VALUES (?, ?, 1, ?, ?, ?, ?)")
_FORGET_PERSON = _adding(
    "usage_days",
    _BY_PERSON,
    f"SELECT server_id, day, '', {', '.join(_COUNTS)} FROM usage_days WHERE user_id = ?",  # noqa: S608 - ours
)

_COUNT_NAMELESS = _adding(
    "usage_days",
    _BY_PERSON,
    f"""SELECT {NOWHERE}, day, CAST(? AS TEXT), {", ".join(f"SUM({each})" for each in _COUNTS)}
        FROM usage_days WHERE user_id = ? AND day >= ? GROUP BY day""",  # noqa: S608 - ours
)

_SUMS = ", ".join(f"CAST(COALESCE(SUM({each}), 0) AS BIGINT)" for each in _COUNTS)

_SUMS_OF_CALLS = """
    COUNT(*), SUM(CASE WHEN input_tokens IS NULL AND output_tokens IS NULL THEN 1 ELSE 0 END),
    CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT),
    CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT),
    CAST(COALESCE(SUM(cached_tokens), 0) AS BIGINT)"""

_PAGE = """
    SELECT turn_id, call, at, purpose, user_id, server_id, session_id, model,
           input_tokens, output_tokens, cached_tokens
    FROM usage WHERE (at, turn_id, call) > (?, ?, ?) ORDER BY at, turn_id, call LIMIT ?"""


_SERVERS = """
    SELECT server_id FROM usage_days WHERE user_id = ? AND server_id > 0
    GROUP BY server_id ORDER BY MAX(day) DESC, server_id LIMIT ?"""


class Purpose(StrEnum):
    """What a call of a model was for."""

    ANSWER = "answer"
    SUMMARY = "summary"


class By(StrEnum):
    """What usage can be told apart by."""

    USER = "user"
    SERVER = "server"
    MODEL = "model"
    DAY = "day"


_KEYS = {
    By.USER: "COALESCE(user_id, '')",
    By.SERVER: "COALESCE(server_id, 0)",
    By.MODEL: "model",
    By.DAY: "substr(at, 1, 10)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """One call of a model; `turn_id` and `call` name it.

    Attributes:
        call: Its number in the turn. A summary's calls have a name of their own for a turn.
        user_id: Who asked; `None` if that is unknown, or was forgotten.
        server_id: Where; `None` in a DM.
        usage: What the service reported; `None` in it is what it did not.
    """

    turn_id: str
    call: int
    at: datetime
    purpose: Purpose
    user_id: str | None
    server_id: int | None
    session_id: str
    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Sums:
    """What several calls used together.

    Attributes:
        untold: How many of the calls the service told no tokens of: they count nothing.
        cached_tokens: How many of the `input_tokens` the service had cached.
    """

    calls: int = 0
    untold: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Sums) -> Sums:
        """Add two sums."""
        return Sums(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def tokens(self) -> int:
        """What counts for a budget."""
        return self.input_tokens + self.output_tokens


class UsageStore:
    """Every call once, and its sums by server, day and user.

    Args:
        database: Where they are.
        clock: Tells which month it is.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def add(self, used: Used) -> bool:
        """Store a call; return whether it was not known."""

        def job(connection: Connection) -> bool:
            if connection.execute(_ADD, _row(used)).rowcount != 1:
                return False
            server, day, user, *counts = _day_row(used)
            connection.execute(_ADD_TO_PERSON, (server, day, user, *counts))
            connection.execute(_ADD_TO_SERVER, (server, day, *counts))
            return True

        return await self._database.write(job)

    async def of_user(self, user_id: str, period: Period) -> Sums:
        """Return what somebody used in a period, wherever."""
        keys = user_id, _nameless(user_id)
        return await self._sums("usage_days WHERE user_id IN (?, ?)", keys, period)

    async def of_server(self, server_id: int, period: Period) -> Sums:
        """Return what was used in a server in a period, by whomever."""
        return await self._sums("usage_server_days WHERE server_id = ?", (server_id,), period)

    async def servers_of(self, user_id: str, *, limit: int) -> Sequence[int]:
        """Return servers in which somebody was answered, the latest first."""
        rows = await self._database.fetch(_SERVERS, (user_id, limit))
        return [server_id for (server_id,) in rows]

    async def _sums(self, whose: str, keys: Sequence[str | int], period: Period) -> Sums:
        sql = f"SELECT {_SUMS} FROM {whose} AND day >= ? AND day < ?"  # noqa: S608 - ours
        days = period.first.isoformat(), period.over.isoformat()
        [row] = await self._database.fetch(sql, (*keys, *days))
        return Sums(*row)

    async def server_by_user(self, server_id: int, period: Period) -> Sequence[tuple[str, Sums]]:
        """Return what each person used in a server, most first; '' are the forgotten."""
        found = await self._server_by("user_id", "usage_days", server_id, period)
        return sorted(found, key=lambda each: (-each[1].tokens, each[0]))

    async def server_by_day(self, server_id: int, period: Period) -> Sequence[tuple[str, Sums]]:
        """Return what was used in a server each day, in their order."""
        return await self._server_by("day", "usage_server_days", server_id, period)

    async def _server_by(
        self, column: str, table: str, server_id: int, period: Period
    ) -> list[tuple[str, Sums]]:
        sql = f"""
            SELECT {column}, {_SUMS} FROM {table}
            WHERE server_id = ? AND day >= ? AND day < ? GROUP BY {column} ORDER BY {column}"""  # noqa: S608 - ours
        days = period.first.isoformat(), period.over.isoformat()
        rows = await self._database.fetch(sql, (server_id, *days))
        return [(key, Sums(*sums)) for key, *sums in rows]

    async def by(self, by: By, since: date) -> Sequence[tuple[str | int, Sums]]:
        """Return what was used since a day, told apart; all calls are read for it."""
        sql = f"""
            SELECT {_KEYS[by]}, {_SUMS_OF_CALLS} FROM usage WHERE at >= ?
            GROUP BY 1 ORDER BY 1"""  # noqa: S608 - ours
        rows = await self._database.fetch(sql, (since.isoformat(),))
        return [(key, Sums(*sums)) for key, *sums in rows]

    async def calls(
        self, since: date, *, after: Used | None = None, limit: int = 1000
    ) -> Sequence[Used]:
        """Return calls since a day in the order of their times, those after one of them."""
        place = (since.isoformat(), "", 0) if after is None else (*_place(after),)
        return [_used(*row) for row in await self._database.fetch(_PAGE, (*place, limit))]

    async def forget_user(self, user_id: str) -> None:
        """Take somebody out of what is stored; what was used in their servers stays told.

        What they used this month still counts for their budget, under a word made of their id.
        """
        month = Period.around(Span.MONTH, self._clock()).first.isoformat()

        def job(connection: Connection) -> None:
            connection.execute(_COUNT_NAMELESS, (_nameless(user_id), user_id, month))
            connection.execute(
                "DELETE FROM usage_days WHERE server_id = ? AND day < ?", (NOWHERE, month)
            )
            connection.execute(
                "UPDATE usage SET user_id = NULL, session_id = '' WHERE user_id = ?", (user_id,)
            )
            connection.execute(_FORGET_PERSON, (user_id,))
            connection.execute("DELETE FROM usage_days WHERE user_id = ?", (user_id,))

        await self._database.write(job)


def _nameless(user_id: str) -> str:
    return f"nameless-{hashlib.sha256(user_id.encode()).hexdigest()[:20]}"


def _place(used: Used) -> tuple[str, str, int]:
    return stored_time(used.at), used.turn_id, used.call


def _row(used: Used) -> tuple[object, ...]:
    at, turn_id, call = _place(used)
    whose = used.purpose.value, used.user_id, used.server_id, used.session_id, used.model
    usage = used.usage
    tokens = usage.input_tokens, usage.output_tokens, usage.cached_tokens
    return turn_id, call, at, *whose, *tokens


def _day_row(used: Used) -> tuple[object, ...]:
    usage = used.usage
    untold = usage.input_tokens is None and usage.output_tokens is None
    tokens = usage.input_tokens or 0, usage.output_tokens or 0, usage.cached_tokens or 0
    return used.server_id or 0, stored_time(used.at)[:10], used.user_id or "", int(untold), *tokens


def _used(
    turn_id: str,
    call: int,
    at: str,
    purpose: str,
    user_id: str | None,
    server_id: int | None,
    session_id: str,
    model: str,
    *tokens: int | None,
) -> Used:
    told = dict(zip(("input_tokens", "output_tokens", "cached_tokens"), tokens, strict=True))
    return Used(
        turn_id=turn_id,
        call=call,
        at=datetime.fromisoformat(at),
        purpose=Purpose(purpose),
        user_id=user_id,
        server_id=server_id,
        session_id=session_id,
        model=model,
        usage=Usage(**told),
    )
