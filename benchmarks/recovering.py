"""Rows of recovery: `python -m benchmarks.all recovering`.

Ten thousand sessions wait for an approval, and all that people should see of them is shown: what
a start finds of a bot with much open. Then the process ended while it was at some of them, and
each of those is shown and gone on with by itself. No Discord is needed for it, and none is there.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import psycopg

from benchmarks.rows import Row, below
from benchmarks.turns import in_memory
from bot.events import (
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    RecordedEvent,
    ToolCall,
    UserMessageEvent,
    utc_now,
)
from bot.frontend import FrontendOptions, Stores
from bot.frontend.settings.look import manner_of
from bot.frontend.view.answers import Look
from bot.frontend.view.view import view, with_reminders
from bot.sessions import PostgresSessionManager, Session, SQLiteSessionManager, SQLSessionManager
from bot.sessions.stores.deliveries import Delivery
from bot.sessions.stores.rests import Rest
from bot.storage.moving import move
from tests.e2e.stage import Tools, parley
from tests.postgres import serving

OPEN = 10_000
TO_DO = 100
LIMIT = 2_000.0
QUERY = "SELECT session_id FROM sessions WHERE open_turns <> '[]'"
EVENTS = "SELECT body FROM events WHERE session_id = "


async def fill(store: SQLSessionManager) -> None:
    """Leave sessions as processes do that ended while all of them waited."""
    stores = Stores.beside(store)
    for start in range(0, OPEN, 500):
        await asyncio.gather(*(_waiting(stores, start + n) for n in range(500)))


async def _waiting(stores: Stores, number: int) -> None:
    session = Session(_name(number))
    session.append(*_asks(number))
    await stores.sessions.save(session, rests=True)
    seen, wake_at = with_reminders(view(session.events, Look()), utc_now())
    assert wake_at is not None
    await stores.deliveries.put(
        *(
            Delivery(
                session_id=session.session_id,
                turn_id=each.key.turn_id,
                subject=each.key.subject,
                purpose=each.key.purpose.value,
                part=each.key.part,
                channel_id=10**18 + number,
                message_id=3 * 10**18 + number,
                content_hash=each.content_hash,
                final=each.final,
            )
            for each in seen.shown
        )
    )
    rest = Rest(session.version, manner_of(FrontendOptions()), wake_at)
    await stores.deliveries.set_delivered_to(session.session_id, 0, rest)


def _name(number: int) -> str:
    return f"thread-{10**18 + number}"


def _asks(number: int) -> Sequence[RecordedEvent]:
    call = ToolCall(call_id=f"c{number}", tool="delete_file", arguments='{"path":"a"}')
    return (
        UserMessageEvent(text="delete it", source_id=f"discord-{2 * 10**18 + number}"),
        AssistantMessageEvent(text="", tool_calls=(call,)),
        ApprovalRequestedEvent(
            approval_id=f"a{number}",
            call_id=call.call_id,
            tool=call.tool,
            arguments={"path": "a"},
            arguments_hash="0",
            requested_by="user-1",
            expires_at=utc_now() + timedelta(days=1),
        ),
    )


async def hold_some(store: SQLSessionManager) -> None:
    """End while some are being looked at: nobody else knows what is to be done in them."""
    holder = await store.register()
    for number in range(0, OPEN, OPEN // TO_DO):
        assert (await store.lease(_name(number), holder)).taken
    await store.close()


async def recovered(store: SQLSessionManager) -> float:
    """Time what a start does with what is open."""
    client = parley(
        store=store, model_url="http://127.0.0.1:9/v1", tools=Tools(), options=FrontendOptions()
    )
    await store.initialize()
    started = time.perf_counter()
    await client._parts.recovery.recover()
    await client._parts.showing.finish(60.0)
    seconds = time.perf_counter() - started
    client._parts.expiry.close()
    await client._parts.work.cancel()
    await client._parts.showing.cancel()
    return seconds


async def to_do(store: SQLSessionManager) -> int:
    """Count the sessions that do not rest."""
    rests = Stores.beside(store).rests
    found = await rests.open(manner_of(FrontendOptions()), utc_now(), limit=OPEN)
    return len(found)


def raw(path: Path) -> float:
    """Time reading all that is open, with nothing around it."""
    started = time.perf_counter()
    with closing(sqlite3.connect(path)) as connection:
        for (name,) in connection.execute(QUERY).fetchall():
            bodies = connection.execute(f"{EVENTS} ?", (name,))
            _ = [json.loads(body) for (body,) in bodies.fetchall()]
    return time.perf_counter() - started


def raw_postgres(url: str) -> float:
    """Time the same there."""
    started = time.perf_counter()
    with psycopg.connect(url) as connection:
        for (name,) in connection.execute(QUERY).fetchall():
            bodies = connection.execute(f"{EVENTS} %s", (name,))
            _ = [json.loads(body) for (body,) in bodies.fetchall()]
    return time.perf_counter() - started


async def rows() -> Sequence[Row]:
    what = f"recovery at start with {OPEN:,} open sessions"
    with tempfile.TemporaryDirectory(dir=in_memory()) as name:
        path = Path(name) / "open.db"
        store = SQLiteSessionManager(path)
        await fill(store)
        floor, waiting = raw(path), await recovered(store)
        await store.close()
        with serving() as server:
            url = server.new_database()
            move(f"sqlite:///{path}", url)
            shared = PostgresSessionManager(url)
            floor_there, there = raw_postgres(url), await recovered(shared)
            await shared.close()
        await hold_some(store)
        assert await to_do(store) == TO_DO
        some = await recovered(store)
        assert await to_do(store) == 0
        await store.close()
    return [
        below(what, "ms", floor, waiting, LIMIT, "raw sqlite3", 1e3),
        below(f"{what}, {TO_DO} with work", "ms", floor, some, LIMIT, "raw sqlite3", 1e3),
        below(f"{what}, PostgreSQL", "ms", floor_there, there, LIMIT, "raw psycopg", 1e3),
    ]
