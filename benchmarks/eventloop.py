"""How long the event loop is held up by what is big: `python -m benchmarks.eventloop`.

Each line: the longest time in which the loop did not turn while something was done, beside that of
a loop with nothing to do over as long (the floor: what the machine itself costs), and how long the
work took. The best of three, since a busy machine only adds. What is imported is measured in
processes of their own. Goal: 100 ms.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bot.agent.context import ExecutionContext
from bot.agent.history.messages import history
from bot.agent.model.service import ModelRequest
from bot.events import AssistantMessageEvent, RecordedEvent, UserMessageEvent

SIZE = 10_000_000
Work = Callable[[], Awaitable[object]]


async def beat(gaps: list[float]) -> None:
    while True:
        before = time.perf_counter()
        await asyncio.sleep(0.001)
        gaps.append(time.perf_counter() - before - 0.001)


async def longest_stall(work: Work) -> tuple[float, float]:
    """Return the longest stall while something is done, and how long that took, in seconds."""
    gaps: list[float] = []
    beating = asyncio.create_task(beat(gaps))
    await asyncio.sleep(0.01)
    gaps.clear()
    started = time.perf_counter()
    await work()
    seconds = time.perf_counter() - started
    await asyncio.sleep(0)
    beating.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await beating
    return max(gaps, default=seconds), seconds


async def show(what: str, work: Work, rounds: int = 3) -> None:
    measured = [await longest_stall(work) for _ in range(rounds)]
    stall, seconds = map(min, zip(*measured, strict=True))
    floors = [await longest_stall(lambda: asyncio.sleep(seconds)) for _ in range(rounds)]
    tell(what, stall, min(floor for floor, _ in floors), seconds)


def tell(what: str, stall: float, floor: float, seconds: float) -> None:
    if len(sys.argv) > 1:
        print(json.dumps([what, stall, floor, seconds]))
        return
    verdict = "ok  " if stall <= 0.1 else "LONG"
    print(
        f"{verdict} {what:<46}{stall * 1e3:8.1f} ms   floor {floor * 1e3:6.1f} ms"
        f"   took {seconds * 1e3:8.0f} ms",
        flush=True,
    )


def events(size: int) -> list[RecordedEvent]:
    """Return a conversation of ten megabytes in messages of this size."""
    text = 'Some "words" of a text, with\nlines and ünïcode. ' * (size // 47)
    made: list[RecordedEvent] = []
    for number in range(SIZE // size):
        turn = f"turn-{number // 2}"
        made.append(
            UserMessageEvent(text=text, turn_id=turn, seq=number + 1)
            if number % 2 == 0
            else AssistantMessageEvent(text=text, turn_id=turn, seq=number + 1, model="m")
        )
    return made


# -- what is stored --------------------------------------------------------------------------------


async def stored(folder: Path, size: int) -> None:
    from bot.sessions import Session, SQLiteSessionManager

    path = folder / f"{size}.db"
    writing = SQLiteSessionManager(path)
    log = events(size)
    session = Session("s")
    for start in range(0, len(log), 500):
        session.append(*log[start : start + 500])
        await writing.save(session)
    await writing.close()
    del session, log
    name = f"10 MB in messages of {size:,}"
    await show(f"get, {name}", lambda: read_anew(path))
    reading = SQLiteSessionManager(path)
    await show(f"read_log, {name}", lambda: whole_log(reading))
    await reading.close()


async def read_anew(path: Path) -> None:
    from bot.sessions import SQLiteSessionManager

    store = SQLiteSessionManager(path)
    await store.get("s")
    await store.close()


async def whole_log(store: Any) -> None:
    after = 0
    while page := await store.read_log("s", after=after, limit=1000):
        after = page[-1].seq


async def blob(folder: Path) -> None:
    from bot.sessions import SQLiteSessionManager

    store = SQLiteSessionManager(folder / "blobs.db")
    await store.initialize()
    data = bytes(range(256)) * (25_000_000 // 256)
    await show("an attachment of 25 MB, hashed and stored", lambda: store.put_blob(data))
    await store.close()


# -- what is sent ----------------------------------------------------------------------------------


async def sent(size: int, root: str) -> None:
    from bot.providers import Provider

    log = events(size)
    provider = Provider(model="m", base_url=root)
    await provider.open()
    messages: list[Any] = []

    async def built() -> None:
        messages[:] = await asyncio.to_thread(history, log, model="m")

    async def asked() -> None:
        async for _ in provider.stream(ModelRequest(messages=messages)):
            pass

    await show(f"history, 10 MB in messages of {size:,}", built)
    await show(f"a request, 10 MB in messages of {size:,}", asked)
    await provider.close()


async def turn(folder: Path, size: int, root: str) -> None:
    """Answer one message in the conversation that `stored` has left."""
    from bot import Agent, Provider, SQLiteSessionManager
    from bot.tools import current_time

    store = SQLiteSessionManager(folder / f"{size}.db")
    agent = Agent(
        provider=Provider(model="m", base_url=root), session_manager=store, tools=[current_time]
    )
    await store.initialize()
    await show(
        f"a turn after 10 MB in messages of {size:,}",
        lambda: _awaited(agent.run("hello", session_id="s")),
        1,
    )
    await show("the next turn", lambda: _awaited(agent.run("and?", session_id="s")))
    await agent.close()


async def _awaited(run: Any) -> None:
    assert (await run).output == "ok"


async def tool_result() -> None:
    from bot.agent.tools.tool import tool

    @tool
    def everything() -> list[dict[str, str]]:
        return [{"name": "value " * 10}] * 150_000

    async def invoke() -> None:
        context: Any = ExecutionContext(session=None, session_manager=None)  # type: ignore[arg-type]
        await everything.invoke({}, context)

    await invoke_once(everything)
    await show("a tool's result of 10 MB", invoke)


async def invoke_once(tool: Any) -> None:
    await asyncio.to_thread(lambda: tool.definition)


# -- what is imported ------------------------------------------------------------------------------


async def frontend_import() -> None:
    from bot import app

    await show("import of discord.py and the SDK", lambda: asyncio.to_thread(app.preload), 1)


async def provider_import() -> None:
    from bot.providers import Provider

    provider = Provider(model="m", base_url="http://127.0.0.1:9/v1")
    await show("import of the openai SDK", provider.open, 1)
    await provider.close()


async def schema_building() -> None:
    from bot import Agent, Provider, tool
    from bot.tools import current_time, roll_dice

    @tool
    def more(names: list[str], numbers: dict[str, int], deep: list[dict[str, list[int]]]) -> str:
        """Do more."""
        return ""

    provider = Provider(model="m", base_url="http://127.0.0.1:9/v1")
    agent = Agent(provider=provider, tools=[current_time, roll_dice, more])
    await show("import of pydantic, schemas of three tools", agent._parts.definitions, 1)


async def database_opening() -> None:
    from bot.sessions import SQLiteSessionManager

    with tempfile.TemporaryDirectory() as name:
        store = SQLiteSessionManager(Path(name) / "new.db")
        await show("import of SQLite, a new database", store.initialize, 1)
        await store.close()


FRESH = {
    each.__name__: each
    for each in (frontend_import, provider_import, schema_building, database_opening)
}


async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        json.loads(await reader.readexactly(length))
        chunk = json.dumps(
            {"choices": [{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}]}
        )
        body = f"data: {chunk}\n\ndata: [DONE]\n\n".encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
            + f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        await writer.drain()
        writer.close()


async def serve() -> None:
    server = await asyncio.start_server(swallow, "127.0.0.1", limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


async def main() -> None:
    for name in FRESH:
        command = [sys.executable, "-m", "benchmarks.eventloop", name]
        found = [json.loads(subprocess.check_output(command)) for _ in range(3)]
        what, *_ = found[0]
        tell(what, *(min(each[n] for each in found) for n in (1, 2, 3)))
    gc.collect()
    gc.freeze()  # as the bot does once it has started
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.eventloop", "serve"], stdout=subprocess.PIPE
    )
    assert server.stdout
    root = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
    try:
        with tempfile.TemporaryDirectory() as name:
            for size in (250, 4_000, 100_000):
                await stored(Path(name), size)
                await sent(size, root)
                await turn(Path(name), size, root)
            await blob(Path(name))
        await tool_result()
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    [chosen] = sys.argv[1:] or ["all"]
    asyncio.run(FRESH[chosen]() if chosen in FRESH else serve() if chosen == "serve" else main())
