"""Schedules: what is to be said later, by whose wish, where and when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from zoneinfo import ZoneInfo

from bot.errors import NoRoomError
from bot.sessions.stores.recurrence import Rule, from_json, next_due, to_json
from bot.sessions.times import stored_time
from bot.storage import Connection, Database, Row

MOST = 25
"""Schedules of one person."""
UTC = "UTC"

_COLUMNS = "schedule_id, user_id, session_id, rule, zone, text, asks, due_at"

_INSERT = f"""
    INSERT INTO schedules ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (schedule_id) DO NOTHING"""  # noqa: S608 - ours

_SELECT = f"SELECT {_COLUMNS} FROM schedules"  # noqa: S608 - ours

_BEGIN = """
    UPDATE schedules SET begun = due_at
    WHERE schedule_id = ? AND due_at = ? AND begun <> due_at"""

_IS_DUE = "SELECT 1 FROM schedules WHERE schedule_id = ? AND due_at = ?"

_MOVE = "UPDATE schedules SET due_at = ? WHERE schedule_id = ? AND due_at = ?"

_END = "DELETE FROM schedules WHERE schedule_id = ? AND due_at = ?"

_SET_ZONE = """
    INSERT INTO time_zones (user_id, zone) VALUES (?, ?)
    ON CONFLICT (user_id) DO UPDATE SET zone = excluded.zone"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Something that is said again and again, or once.

    Attributes:
        rule: When, in the time zone `zone`.
        asks: Whether the agent is asked; else the text is posted as it is.
        due_at: When it is due next.
    """

    schedule_id: str
    user_id: str
    session_id: str
    rule: Rule
    zone: str
    text: str
    asks: bool
    due_at: datetime


class Begun(Enum):
    """What is known of something that is due, when somebody begins to say it.

    Attributes:
        OVER: It is not due any more: it was said, or cancelled.
        BEFORE: Somebody began before, and perhaps said it.
        NOW: Nobody did.
    """

    OVER = 0
    BEFORE = 1
    NOW = 2


class ScheduleStore:
    """The schedules of everybody, and the time zones in which they think.

    Attributes:
        on_added: Called whenever a schedule was added here.
    """

    def __init__(self, database: Database) -> None:
        self.on_added: Callable[[], None] = lambda: None
        self._database = database

    async def add(self, schedule: Schedule) -> None:
        """Keep a schedule; one of this id that is kept already stays as it is.

        Raises:
            NoRoomError: if its owner has as many as one may.
        """
        row = (
            schedule.schedule_id,
            schedule.user_id,
            schedule.session_id,
            to_json(schedule.rule),
            schedule.zone,
            schedule.text,
            int(schedule.asks),
            stored_time(schedule.due_at),
        )

        def job(connection: Connection) -> None:
            sql = "SELECT count(*) FROM schedules WHERE user_id = ? AND schedule_id <> ?"
            values = (schedule.user_id, schedule.schedule_id)
            if connection.execute(sql, values).fetchone()[0] >= MOST:
                raise NoRoomError(f"there are {MOST} schedules already, which is as many as may be")
            connection.execute(_INSERT, row)

        await self._database.write(job)
        self.on_added()

    async def of(self, user_id: str) -> Sequence[Schedule]:
        """Return somebody's schedules, the next due first."""
        sql = f"{_SELECT} WHERE user_id = ? ORDER BY due_at, schedule_id"
        return [_schedule(row) for row in await self._database.fetch(sql, (user_id,))]

    async def due(self, now: datetime, *, limit: int = 1000) -> Sequence[Schedule]:
        """Return what is due by now, the longest due first."""
        sql = f"{_SELECT} WHERE due_at <= ? ORDER BY due_at, schedule_id LIMIT ?"
        rows = await self._database.fetch(sql, (stored_time(now), limit))
        return [_schedule(row) for row in rows]

    async def next_at(self, after: datetime) -> datetime | None:
        """Return when something is due next after a time."""
        sql = "SELECT min(due_at) FROM schedules WHERE due_at > ?"
        [(at,)] = await self._database.fetch(sql, (stored_time(after),))
        return datetime.fromisoformat(at) if at else None

    async def begin(self, schedule: Schedule) -> Begun:
        """Note that what is due is about to be said; return whether it may have been."""
        key = (schedule.schedule_id, stored_time(schedule.due_at))

        def job(connection: Connection) -> Begun:
            if connection.execute(_BEGIN, key).rowcount:
                return Begun.NOW
            return Begun.BEFORE if connection.execute(_IS_DUE, key).fetchone() else Begun.OVER

        return await self._database.write(job)

    async def move_on(self, schedule: Schedule, after: datetime) -> bool:
        """Let what was said be due again after a time, or never; return whether it still was."""
        following = next_due(schedule.rule, ZoneInfo(schedule.zone), after)
        key = (schedule.schedule_id, stored_time(schedule.due_at))
        if following is None:
            return await self._database.execute(_END, key) == 1
        return await self._database.execute(_MOVE, (stored_time(following), *key)) == 1

    async def cancel(self, user_id: str, schedule_id: str) -> bool:
        """End one of somebody's schedules; return whether there was one."""
        sql = "DELETE FROM schedules WHERE user_id = ? AND schedule_id = ?"
        return await self._database.execute(sql, (user_id, schedule_id)) == 1

    async def zone(self, user_id: str) -> str:
        """Return the name of somebody's time zone."""
        sql = "SELECT zone FROM time_zones WHERE user_id = ?"
        rows = await self._database.fetch(sql, (user_id,))
        return rows[0][0] if rows else UTC

    async def set_zone(self, user_id: str, zone: str) -> None:
        """Note somebody's time zone; what is scheduled already stays in the one it was made in."""
        await self._database.execute(_SET_ZONE, (user_id, zone))

    async def forget_user(self, user_id: str) -> None:
        """Forget somebody's schedules and time zone."""
        for table in ("schedules", "time_zones"):
            sql = f"DELETE FROM {table} WHERE user_id = ?"  # noqa: S608 - two names, both ours
            await self._database.execute(sql, (user_id,))


def _schedule(row: Row) -> Schedule:
    schedule_id, user_id, session_id, rule, zone, text, asks, due_at = row
    return Schedule(
        schedule_id=schedule_id,
        user_id=user_id,
        session_id=session_id,
        rule=from_json(rule),
        zone=zone,
        text=text,
        asks=bool(asks),
        due_at=datetime.fromisoformat(due_at),
    )
