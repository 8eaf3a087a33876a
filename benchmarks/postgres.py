"""What storage in PostgreSQL costs, beside raw psycopg: `python -m benchmarks.postgres`.

The server is on loopback and does not wait for the disk, so that what is left is ours: medians, in
milliseconds.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import psycopg

from benchmarks.storage import AT_ONCE, SIZES, median_ms, messages, timed, turn
from bot.events import codec
from bot.sessions import PostgresSessionManager, Session
from tests.postgres import Server, serving

TABLE = """
    CREATE TABLE raw (session_id TEXT COLLATE "C", seq BIGINT, body TEXT,
                      PRIMARY KEY (session_id, seq))"""
INSERT = "INSERT INTO raw VALUES (%s, %s, %s)"


def raw_turns(server: Server, size: int, rounds: int) -> float:
    bodies = [codec.to_json(event) for event in messages(size)]
    with psycopg.connect(server.new_database(), autocommit=True) as connection:
        connection.execute(TABLE)
        with connection.cursor() as cursor:
            for number in range(rounds):
                rows = [(str(number), seq, body) for seq, body in enumerate(bodies)]
                cursor.executemany(INSERT, rows)
        times = []
        for number in range(rounds):
            start = time.perf_counter()
            raw_turn(connection, str(number), size, bodies[:2])
            times.append(time.perf_counter() - start)
    return median_ms(times)


def raw_turn(
    connection: psycopg.Connection[Any], session_id: str, seq: int, bodies: list[str]
) -> None:
    query = "SELECT body FROM raw WHERE session_id = %s ORDER BY seq"
    _ = [json.loads(body) for (body,) in connection.execute(query, (session_id,)).fetchall()]
    for offset, body in enumerate(bodies):
        with connection.transaction():
            connection.execute(INSERT, (session_id, seq + offset, body))


async def our_turns(server: Server, size: int, rounds: int) -> tuple[float, float]:
    manager = PostgresSessionManager(server.new_database())
    for number in range(rounds):
        session = Session(f"s{number}")
        session.append(*messages(size, start=number * size))
        await manager.save(session)
    for number in range(rounds):  # so that statements are prepared, as in the raw turns
        await manager.get_or_create(f"other{number}")
    cold = [await timed(lambda n=n: turn(manager, f"s{n}", n)) for n in range(rounds)]  # type: ignore[misc]
    warm = [
        await timed(lambda n=n: turn(manager, f"s{n}", rounds + n))  # type: ignore[misc]
        for n in range(rounds)
    ]
    await manager.close()
    return median_ms(warm), median_ms(cold)


async def at_once(server: Server, rounds: int) -> tuple[float, int]:
    manager = PostgresSessionManager(server.new_database())
    names = [f"s{number}" for number in range(AT_ONCE)]
    await asyncio.gather(*(manager.create(name) for name in names))
    times, numbers = [], iter(range(1_000_000))
    before = manager.database.transactions

    async def all_turns() -> None:
        await asyncio.gather(*(turn(manager, name, next(numbers)) for name in names))

    for _ in range(rounds):
        times.append(await timed(all_turns))
    commits = (manager.database.transactions - before) // rounds
    await manager.close()
    return median_ms(times), commits


def raw_at_once(server: Server, rounds: int) -> float:
    """Time one connection that loads all sessions, then commits twice for all of them."""
    body = codec.to_json(messages(1)[0])
    times = []
    with psycopg.connect(server.new_database(), autocommit=True) as connection:
        connection.execute(TABLE)
        for number in range(rounds):
            start = time.perf_counter()
            for session in range(AT_ONCE):
                query = "SELECT body FROM raw WHERE session_id = %s ORDER BY seq"
                connection.execute(query, (str(session),)).fetchall()
            for half in range(2):
                with connection.transaction():
                    for session in range(AT_ONCE):
                        connection.execute(INSERT, (str(session), 2 * number + half, body))
            times.append(time.perf_counter() - start)
    return median_ms(times)


async def main() -> None:
    with serving() as server:
        print("a turn: load and two saves, ms    raw    warm  ratio    cold  ratio")
        for size in SIZES:
            rounds = 10 if size > 1_000 else 40
            raw = raw_turns(server, size, rounds)
            warm, cold = await our_turns(server, size, rounds)
            print(
                f"{size:>8,} events before       {raw:10.2f} {warm:7.2f} {warm / raw:6.2f}"
                f" {cold:7.2f} {cold / raw:6.2f}"
            )
        ours, commits = await at_once(server, 10)
        raw = raw_at_once(server, 10)
    print(f"\n{AT_ONCE} sessions at once, ms: {ours:.1f}; raw, one thread, two commits: {raw:.1f}")
    print(f"commits for {2 * AT_ONCE} saves: {commits}")


if __name__ == "__main__":
    asyncio.run(main())
