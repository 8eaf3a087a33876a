"""Many channels at once: `python -m benchmarks.all fleet`.

The real bot, a process on one core, answers in 500 channels at the same time, while the model says
50 tokens a second in each. Discord, with its limits, and the model are in this process. The lag is
what the bot's own `/metrics` tell. The floor is the lag of the same bot with nothing to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from benchmarks.provider import HEAD, LAST, WORD, event, framed
from benchmarks.rows import Row, below
from bot.config import child_environment
from bot.sandbox import REAL_LIMITS, World, serve

CHANNELS = 500
RATE = 50.0
SECONDS = 15.0
WARM_UP = 20.0  # until the first text of each is on the screen
LAG, MEMORY, BEHIND = 100.0, 250.0, 1.0
ROOT = Path(__file__).parent.parent
Buckets = Mapping[float, float]


class Speaker:
    """A model that says a word in every answer, `RATE` times a second."""

    def __init__(self) -> None:
        self.said = framed(event(WORD))
        self.writers: set[asyncio.StreamWriter] = set()
        self.over = asyncio.Event()
        self.came = asyncio.Event()

    async def hears(self, count: int) -> None:
        """Return once so many wait for its words."""
        while len(self.writers) < count:
            self.came.clear()
            await self.came.wait()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(
            asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError
        ):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                found = head.lower().split(b"content-length:")
                if len(found) == 1:
                    writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                    continue
                await reader.readexactly(int(found[1].split(b"\r\n")[0]))
                writer.write(HEAD)
                self.writers.add(writer)
                self.came.set()
                await self.over.wait()
                self.writers.discard(writer)
                writer.write(framed(event(LAST) + b"data: [DONE]\n\n") + framed(b""))

    def behind(self, port: int) -> float:
        """Return how many seconds of words have been said and not been read, in the mean."""
        unsent = sum(each.transport.get_write_buffer_size() for each in self.writers)
        return (unsent + unread_from(port)) / len(self.said) / len(self.writers) / RATE

    async def speak(self) -> None:
        word = self.said
        loop = asyncio.get_running_loop()
        due = loop.time()
        while not self.over.is_set():
            for number, writer in enumerate(list(self.writers)):
                writer.write(word)
                if number % 50 == 49:
                    await asyncio.sleep(0)
            due += 1 / RATE
            await asyncio.sleep(max(0.0, due - loop.time()))


@asynccontextmanager
async def bot(settings: Mapping[str, str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the bot on one core, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "bot", "run"),
            cwd=folder,
            env=child_environment(values=settings) | {"PYTHONPATH": str(ROOT)},
        )
        os.sched_setaffinity(process.pid, [max(os.sched_getaffinity(0))])
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def lags(port: int) -> Buckets:
    """Return how often the loop was late by at most so many seconds."""
    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{port}/metrics") as answer:
            lines = (await answer.text()).splitlines()
    found = [each for each in lines if each.startswith("parley_event_loop_lag_seconds_bucket")]
    return {float(each.split('"')[1]): float(each.split()[-1]) for each in found}


def percentile(before: Buckets, after: Buckets, share: float) -> float:
    """Return the lag of this share, between two looks, in ms; within a bucket it is a line."""
    counts = {upto: after[upto] - before[upto] for upto in sorted(after)}
    wanted = share * max(counts.values())
    low, below_it = 0.0, 0.0
    for upto, count in counts.items():
        if count >= wanted:
            part = (wanted - below_it) / (count - below_it) if count > below_it else 1.0
            return (low + part * (min(upto, 10.0) - low)) * 1e3
        low, below_it = upto, count
    return low * 1e3


def memory_of(pid: int | str = "self") -> float:
    """Return what a process has in memory, in MB."""
    [line] = [
        each
        for each in Path(f"/proc/{pid}/status").read_text().splitlines()
        if each.startswith("VmRSS")
    ]
    return int(line.split()[1]) / 1024


def unread_from(port: int) -> int:
    """Return how many bytes have come from a port of this machine that nobody has read."""
    connections = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    theirs = (each for each in connections if int(each[2].partition(":")[2], 16) == port)
    return sum(int(each[4].partition(":")[2], 16) for each in theirs)


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def rows() -> Sequence[Row]:
    world, speaker, port = World(limits=REAL_LIMITS), Speaker(), free_port()
    home, alice = world.guild("Home"), world.person("alice")
    name = world.bot("Parley")
    home.join(alice)
    home.join(name)
    desks = [home.channel(f"desk-{number}") for number in range(CHANNELS)]
    model = await asyncio.start_server(speaker.answer, "127.0.0.1")
    models_port = model.sockets[0].getsockname()[1]
    async with serve(world) as sandbox, model:
        settings = {
            "DISCORD_TOKEN": name.token,
            "DISCORD_API_BASE": sandbox.api_base,
            "OPENAI_BASE_URL": f"http://127.0.0.1:{models_port}/v1",
            "OPENAI_MODEL": "m",
            "CHANNELS": ",".join(str(each.id) for each in desks),
            "MODEL_CALLS_AT_ONCE": str(CHANNELS),
            "TURNS_PER_MINUTE": "1000000",
            "CONTEXT_WINDOW": "100000",
            "METRICS_PORT": str(port),
            "LOG_LEVEL": "ERROR",
        }
        async with bot(settings) as process:
            await sandbox.connected(name, 60.0)
            await asyncio.sleep(2.0)
            idle_from = await lags(port)
            await asyncio.sleep(3.0)
            idle_to, idle_memory = await lags(port), memory_of(process.pid)
            for desk in desks:
                await alice.says("tell me", in_=desk)
            async with asyncio.timeout(60.0):
                await speaker.hears(CHANNELS)
            speaking = asyncio.create_task(speaker.speak())
            await asyncio.sleep(WARM_UP)
            busy_from = await lags(port)
            used, asked = -cpu(process.pid), len(world.requests)
            await asyncio.sleep(SECONDS)
            used += cpu(process.pid)
            busy_to, busy_memory = await lags(port), memory_of(process.pid)
            behind = speaker.behind(models_port)
            speaker.over.set()
            await speaking
    refused = sum(each.status == 429 for each in world.requests[asked:])
    idle, busy = percentile(idle_from, idle_to, 0.99), percentile(busy_from, busy_to, 0.99)
    what = f"{CHANNELS} channels, {RATE:.0f} tokens/s each, one core"
    return [
        below(f"{what}: p99 of the loop's lag", "ms", idle, busy, LAG, "the bot idle"),
        below(f"{what}: how late words are read", "s", 0.0, behind, BEHIND, "none"),
        below(f"{what}: answers 429 meanwhile", "", 0.0, refused, 0.0, "none"),
        below(f"{what}: the core's share", "%", 0.0, used / SECONDS * 100, 100.0, "none"),
        below(f"{what}: memory", "MB", idle_memory, busy_memory, MEMORY, "the bot idle"),
    ]
