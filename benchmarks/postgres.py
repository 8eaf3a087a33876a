"""Rows of storage in PostgreSQL: `python -m benchmarks.all postgres`.

The server is on loopback, and waits for the disk as one in earnest does. Ours and raw psycopg take
turns, so that what else the machine does meets both alike.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import psycopg

from benchmarks.rows import Row, median, times
from benchmarks.storage import AT_ONCE, messages, timed, turn
from bot.events import codec
from bot.sessions import PostgresSessionManager, Session
from tests.postgres import Server, installed, serving

TABLE = """
    CREATE TABLE raw (session_id TEXT COLLATE "C", seq BIGINT, body TEXT,
                      PRIMARY KEY (session_id, seq))"""
SELECT = "SELECT body FROM raw WHERE session_id = %s ORDER BY seq"
INSERT = "INSERT INTO raw VALUES (%s, %s, %s)"
RAW = "raw psycopg"
GOALS = ((100, 1.3), (1_000, 1.0))
"""Events, and what a turn after them may cost: times its floor."""
COLD = 1.3
TOGETHER, PIPELINED = 1.5, 60 / 16
"""What sessions at once may cost: times one statement after the other, and times a pipeline of
them. The second is what SQLite may cost, which has no ways to save.
"""


class Pair:
    """Sessions of so many events, ours and raw ones."""

    def __init__(self, server: Server, size: int, rounds: int) -> None:
        self.size, self.rounds = size, rounds
        self.manager = PostgresSessionManager(server.new_database())
        self.raw = psycopg.connect(server.new_database(), autocommit=True)
        self.raw.execute(TABLE)

    async def fill(self) -> None:
        for number in range(self.rounds):
            session = Session(f"s{number}")
            session.append(*messages(self.size, start=number * self.size))
            await self.manager.save(session)
            bodies = [codec.to_json(event) for event in session.events]
            rows = [(str(number), seq, body) for seq, body in enumerate(bodies)]
            with self.raw.transaction(), self.raw.cursor() as cursor:
                cursor.executemany(INSERT, rows)
        self.bodies = bodies[:2]
        self.manager = PostgresSessionManager(self.manager.database.address)
        await self.manager.initialize()
        for number in range(self.rounds):  # so that each has prepared its statements
            raw_load(self.raw, f"other{number}")
            await self.manager.get_or_create(f"other{number}")

    async def cold(self) -> tuple[list[float], list[float]]:
        """Time loads of sessions that were never loaded."""
        floor, ours, kept = [], [], []
        for number in range(self.rounds):
            started = time.perf_counter()
            kept.append(raw_load(self.raw, str(number)))  # as ours is
            floor.append(time.perf_counter() - started)
            ours.append(await timed(lambda n=number: self.manager.get(f"s{n}")))  # type: ignore[misc]
        return floor, ours

    async def warm(self) -> tuple[list[float], list[float]]:
        """Time turns, a load and two saves, of sessions that are known."""
        floor, ours = [], []
        for number in range(self.rounds):
            started = time.perf_counter()
            raw_turn(self.raw, str(number), self.size, self.bodies)
            floor.append(time.perf_counter() - started)
            name, seq = f"s{number}", self.rounds * self.size + number
            ours.append(await timed(lambda n=name, i=seq: turn(self.manager, n, i)))  # type: ignore[misc]
        return floor, ours

    async def close(self) -> None:
        self.raw.close()
        await self.manager.close()


def raw_load(connection: psycopg.Connection[Any], session_id: str) -> list[object]:
    return [json.loads(body) for (body,) in connection.execute(SELECT, (session_id,)).fetchall()]


def raw_turn(
    connection: psycopg.Connection[Any], session_id: str, seq: int, bodies: list[str]
) -> None:
    raw_load(connection, session_id)
    for offset, body in enumerate(bodies):
        with connection.transaction():
            connection.execute(INSERT, (session_id, seq + offset, body))


class AtOnce:
    """Many sessions that all have a turn at the same moment."""

    def __init__(self, server: Server) -> None:
        self.manager = PostgresSessionManager(server.new_database())
        self.raw = psycopg.connect(server.new_database(), autocommit=True)
        self.raw.execute(TABLE)
        self.names = [f"s{number}" for number in range(AT_ONCE)]
        self.body = codec.to_json(messages(1)[0])

    async def ours(self, number: int) -> None:
        first = number * AT_ONCE
        turns = (turn(self.manager, name, first + n) for n, name in enumerate(self.names))
        await asyncio.gather(*turns)

    def one_by_one(self, number: int) -> None:
        """Load all sessions in one thread, then commit twice for all of them."""
        for name in self.names:
            raw_load(self.raw, name)
        for half in range(2):
            with self.raw.transaction():
                for name in self.names:
                    self.raw.execute(INSERT, (name, 4 * number + half, self.body))

    def pipelined(self, number: int) -> None:
        """Do the same with a pipeline, which waits for no statement by itself."""
        with self.raw.pipeline():
            loads = [self.raw.execute(SELECT, (name,)) for name in self.names]
            _ = [[json.loads(body) for (body,) in each.fetchall()] for each in loads]
        for half in range(2, 4):
            with self.raw.transaction(), self.raw.cursor() as cursor:
                rows = [(name, 4 * number + half, self.body) for name in self.names]
                cursor.executemany(INSERT, rows)

    async def measured(self, rounds: int) -> Sequence[Row]:
        await asyncio.gather(*(self.manager.create(name) for name in self.names))
        floors: list[list[float]] = [[], []]
        ours = []
        for number in range(rounds):
            for floor, work in zip(floors, (self.one_by_one, self.pipelined), strict=True):
                started = time.perf_counter()
                work(number)
                floor.append(time.perf_counter() - started)
            ours.append(await timed(lambda n=number: self.ours(n)))  # type: ignore[misc]
        self.raw.close()
        await self.manager.close()
        what = f"PostgreSQL: {AT_ONCE} sessions at once"
        return [
            times(what, "ms", median(floor), median(ours), goal, of, 1e3)
            for floor, goal, of in zip(
                floors,
                (TOGETHER, PIPELINED),
                (f"{RAW}, two commits", f"{RAW}, two commits, pipelined"),
                strict=True,
            )
        ]


async def rows() -> Sequence[Row]:
    if not installed():
        print("PostgreSQL is not installed: its rows are left out", file=sys.stderr)
        return []
    with serving(durable=True) as server:
        return await measured(server)


async def measured(server: Server) -> Sequence[Row]:
    made: list[Row] = []
    for size, ratio in GOALS:
        pair = Pair(server, size, 40)
        await pair.fill()
        cold = await pair.cold()
        warm = await pair.warm()
        await pair.close()
        what = f"PostgreSQL: a turn's storage after {size:,} events"
        made.append(times(what, "ms", *map(median, warm), ratio, RAW, 1e3))
        if size == 1_000:
            what = f"PostgreSQL: a cold load of {size:,} events"
            made.append(times(what, "ms", *map(median, cold), COLD, RAW, 1e3))
    made += await AtOnce(server).measured(15)
    return made
