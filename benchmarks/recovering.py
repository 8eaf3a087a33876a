"""Rows of recovery: `python -m benchmarks.all recovering`.

Ten thousand sessions wait for an approval, and all that people should see of them is shown: what
a start finds of a bot with much open. No Discord is needed for it, and none is there.
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

from benchmarks.rows import Row, below
from benchmarks.turns import in_memory
from bot.events import (
    ApprovalRequestedEvent,
    AssistantMessageEvent,
    ToolCall,
    UserMessageEvent,
    utc_now,
)
from bot.frontend import FrontendOptions, Stores
from bot.frontend.view.answers import Look
from bot.frontend.view.view import view
from bot.sessions import Session, SQLiteSessionManager
from bot.sessions.deliveries import Delivery
from tests.e2e.stage import Tools, parley

OPEN = 10_000
LIMIT = 2_000.0


async def fill(path: Path) -> None:
    store = SQLiteSessionManager(path)
    stores = Stores.beside(store)
    for start in range(0, OPEN, 500):
        await asyncio.gather(*(_waiting(store, stores, start + n) for n in range(500)))
    await store.close()


async def _waiting(store: SQLiteSessionManager, stores: Stores, number: int) -> None:
    channel = 10**18 + number
    call = ToolCall(call_id=f"c{number}", tool="delete_file", arguments='{"path":"a"}')
    session = Session(f"thread-{channel}")
    session.append(
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
    await store.save(session)
    await stores.deliveries.put(
        *(
            Delivery(
                session_id=session.session_id,
                turn_id=each.key.turn_id,
                subject=each.key.subject,
                purpose=each.key.purpose.value,
                part=each.key.part,
                channel_id=channel,
                message_id=3 * 10**18 + number,
                content_hash=each.content_hash,
                final=each.final,
            )
            for each in view(session.events, Look()).shown
        )
    )


def raw(path: Path) -> float:
    """Time reading all that is open, with nothing around it."""
    started = time.perf_counter()
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT session_id FROM sessions WHERE open_turns <> '[]'"
        for (name,) in connection.execute(query).fetchall():
            bodies = connection.execute("SELECT body FROM events WHERE session_id = ?", (name,))
            _ = [json.loads(body) for (body,) in bodies.fetchall()]
    return time.perf_counter() - started


async def rows() -> Sequence[Row]:
    with tempfile.TemporaryDirectory(dir=in_memory()) as name:
        path = Path(name) / "open.db"
        await fill(path)
        floor = raw(path)
        client = parley(
            store=SQLiteSessionManager(path),
            model_url="http://127.0.0.1:9/v1",
            tools=Tools(),
            options=FrontendOptions(),
        )
        started = time.perf_counter()
        await client._parts.recovery.recover()
        seconds = time.perf_counter() - started
        client._parts.expiry.close()
        await client._parts.work.cancel()
        await client._parts.showing.cancel()
        await client.agent.close()
    what = f"recovery at start with {OPEN:,} open sessions"
    return [below(what, "ms", floor, seconds, LIMIT, "raw sqlite3", 1e3)]
