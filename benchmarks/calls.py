"""Rows of the model's side: `python -m benchmarks.all calls`. See `benchmarks.provider`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import openai

from benchmarks.provider import CHUNKS, contenders, measure, served
from benchmarks.rows import Row, median, plus, times
from benchmarks.turns import in_memory
from bot import Agent, Provider, SQLiteSessionManager

HTTP, SDK = "raw aiohttp", "AsyncOpenAI"
ROUNDS = 200


async def rows() -> Sequence[Row]:
    made: list[Row] = []
    async with served() as root:
        made.append(await whole_turn(f"{root}/1"))
        async with contenders(root) as asks:
            wanted = {name: asks[name] for name in (HTTP, "Provider")}
            await measure(wanted, "1", 1)
            for what, kind, limit, ratio in (
                ("a streamed chunk, all in one write", "all", 12.0, 1.5),
                ("a streamed chunk, one write each", "each", 20.0, 1.5),
            ):
                found = await measure(wanted, kind, 1)
                us = 1e6 / CHUNKS
                pair = (found[HTTP], found["Provider"])
                made.append(times(what, "µs", *pair, ratio, HTTP, us, limit))
            found = await measure(wanted, "1", 1_000)
            what = "a request with 1,000 messages, CPU"
            pair = (found[HTTP], found["Provider"])
            made.append(times(what, "ms", *pair, 2.0, HTTP, 1e3, 10.0))
    return made


async def whole_turn(url: str) -> Row:
    """A message answered and stored, beside the SDK alone; the server takes no time."""
    sdk = openai.AsyncOpenAI(api_key="k", base_url=url)
    with tempfile.TemporaryDirectory(dir=in_memory()) as name:
        agent = Agent(
            provider=Provider(model="m", base_url=url),
            session_manager=SQLiteSessionManager(Path(name) / "turns.db"),
            system_prompt="Be concise.",
        )
        floor, ours = [], []
        for number in range(ROUNDS):
            started = time.perf_counter()
            stream = await sdk.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}], stream=True
            )
            async for _ in stream:
                pass
            floor.append(time.perf_counter() - started)
            started = time.perf_counter()
            await agent.run("hi", session_id=f"s{number}")
            ours.append(time.perf_counter() - started)
        await agent.close()
    await sdk.close()
    what = "a whole turn against a server that takes no time"
    return plus(what, "ms", median(floor[5:]), median(ours[5:]), 1.5, SDK, 1e3)
