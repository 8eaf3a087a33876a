"""Rows of what rests, and of what is long: `python -m benchmarks.all resting`."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.eventloop import events, longest_stall
from benchmarks.fleet import memory_of
from benchmarks.rows import Row, below
from benchmarks.turns import in_memory
from bot import Agent, Provider, SQLiteSessionManager
from bot.events import AssistantMessageEvent, UserMessageEvent
from bot.sessions import Session

SESSIONS = 100_000
MESSAGES = 250  # characters: 40,000 of them are ten megabytes


async def rows() -> Sequence[Row]:
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        return [*await idle(Path(folder)), await after_many(Path(folder))]


async def idle(folder: Path) -> Sequence[Row]:
    """A store of many sessions, of which none does anything: nothing of them is in memory."""
    store = SQLiteSessionManager(folder / "idle.db")
    await store.initialize()
    agent = Agent(
        provider=Provider(model="m", base_url="http://127.0.0.1:9"), session_manager=store
    )
    gc.collect()
    before, tasks = memory_of(), len(asyncio.all_tasks())
    for start in range(0, SESSIONS, 1_000):
        await asyncio.gather(*(_answered(store, start + number) for number in range(1_000)))
    await store.close()
    agent._runner.forget()
    gc.collect()
    store = SQLiteSessionManager(folder / "idle.db")
    await store.initialize()
    after = memory_of() - before
    more = len(asyncio.all_tasks()) - tasks
    await store.close()
    what = f"{SESSIONS:,} idle sessions"
    return [
        below(f"{what}: memory more than without", "MB", before, after, 60.0, "none"),
        below(f"{what}: tasks more than without", "", tasks, more, 0.0, "none"),
    ]


async def _answered(store: SQLiteSessionManager, number: int) -> None:
    session = Session(f"thread-{number}")
    session.append(
        UserMessageEvent(text="hello", source_id=f"discord-{number}"),
        AssistantMessageEvent(text="Hello."),
    )
    await store.save(session)


async def after_many(folder: Path) -> Row:
    """The first turn after 40,000 messages, in a process that has read nothing yet."""
    path = folder / "long.db"
    writing, session = SQLiteSessionManager(path), Session("s")
    log = events(MESSAGES)
    for start in range(0, len(log), 500):
        session.append(*log[start : start + 500])
        await writing.save(session)
    await writing.close()
    del session, log
    gc.collect()
    gc.freeze()
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.eventloop", "serve"], stdout=subprocess.PIPE
    )
    assert server.stdout
    root = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
    agent = Agent(
        provider=Provider(model="m", base_url=root),
        session_manager=SQLiteSessionManager(path),
        context_window=100_000_000,
    )
    try:
        await agent._parts.model.open()  # type: ignore[attr-defined]
        stall, seconds = await longest_stall(lambda: _told(agent))
        floor, _ = await longest_stall(lambda: asyncio.sleep(seconds))
        await agent.close()
    finally:
        server.kill()
        server.wait()
    what = "the first turn after 40,000 messages: the longest the loop stood still"
    return below(what, "ms", floor, stall, 100.0, "the loop idle", 1e3)


async def _told(agent: Agent) -> None:
    assert (await agent.run("hello", session_id="s")).output == "ok"
