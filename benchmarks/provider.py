"""What the provider costs beside a raw HTTP client and the SDK as it is.

`python -m benchmarks.provider`. The server is a process of its own; figures are CPU time of this
one, medians of the quicker half of the rounds, in which all contenders take turns: noise only adds.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import openai

from benchmarks.rows import median
from bot.agent.model.service import ModelAnswer, ModelRequest, TextDelta
from bot.providers import Provider

CHUNKS = 2_000
ROUNDS = 31
SAID = " word"
WORD = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "system_fingerprint": "fp_1",
    "choices": [{"index": 0, "delta": {"content": SAID}, "logprobs": None}],
}
LAST = {**WORD, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
Messages = Sequence[Mapping[str, Any]]
Ask = Callable[[str, Messages], Awaitable[int]]


def event(data: object) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def framed(text: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(text), text)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = framed(event(LAST) + b"data: [DONE]\n\n") + framed(b"")


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Stream `/1/...` as one word, `/all/...` in one write, `/each/...` in one write a chunk."""
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            kind = head.split(b"/", 2)[1]
            words = [event(WORD)] * (1 if kind == b"1" else CHUNKS)
            if kind == b"each":
                writer.write(HEAD)
                for word in words:
                    writer.write(framed(word))
                    await asyncio.sleep(0)
                writer.write(END)
            else:
                writer.write(HEAD + framed(b"".join(words)) + END)
            await writer.drain()


async def serve() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1")
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


@asynccontextmanager
async def served() -> AsyncIterator[str]:
    command = (sys.executable, "-m", "benchmarks.provider", "serve")
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert process.stdout
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}"
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def contenders(root: str) -> AsyncIterator[dict[str, Ask]]:
    clients: dict[tuple[str, str], Any] = {}

    async def raw(kind: str, messages: Messages) -> int:
        count = 0
        body = {"model": "m", "stream": True, "messages": messages}
        url = f"{root}/{kind}/chat/completions"
        async with session.post(url, json=body) as response:
            async for line in response.content:
                if line.startswith(b"data: {"):
                    count += "content" in json.loads(line[6:])["choices"][0]["delta"]
        return count

    async def typed(kind: str, messages: Messages) -> int:
        count = 0
        stream = await clients[kind, "sdk"].chat.completions.create(
            model="m", messages=messages, stream=True
        )
        async for chunk in stream:
            count += chunk.choices[0].delta.content is not None
        return count

    async def ours(kind: str, messages: Messages) -> int:
        count = 0
        async for delta in clients[kind, "ours"].stream(ModelRequest(messages=messages)):
            count += delta.text.count(SAID) if isinstance(delta, TextDelta) else 0
            assert not isinstance(delta, ModelAnswer) or delta.finish_reason == "stop"
        return count

    async with aiohttp.ClientSession() as session:
        for kind in ("1", "all", "each"):
            url = f"{root}/{kind}"
            clients[kind, "sdk"] = openai.AsyncOpenAI(api_key="k", base_url=url)
            clients[kind, "ours"] = Provider(model="m", base_url=url)
        yield {"raw aiohttp": raw, "AsyncOpenAI": typed, "Provider": ours}
        for client in clients.values():
            await client.close()


async def measure(asks: dict[str, Ask], kind: str, size: int) -> dict[str, float]:
    """Return the median CPU seconds of a request with `size` messages."""
    pairs = [{"role": role, "content": "word " * 40} for role in ("user", "assistant")]
    messages = (pairs * size)[:size]
    taken: dict[str, list[float]] = {name: [] for name in asks}
    for _ in range(ROUNDS):
        for name, ask in asks.items():
            started = time.process_time()
            count = await ask(kind, messages)
            taken[name].append(time.process_time() - started)
            assert count == (1 if kind == "1" else CHUNKS)
    return {name: median(times[1:]) for name, times in taken.items()}


def show(what: str, figures: dict[str, float], scale: float, goal: str) -> None:
    floor = figures["raw aiohttp"]
    told = "   ".join(
        f"{name} {seconds * scale:.2f} (x{seconds / floor:.1f})"
        for name, seconds in figures.items()
    )
    print(f"{what:<42}{told}   goal {goal}")


async def main() -> None:
    async with served() as root, contenders(root) as asks:
        await measure(asks, "1", 1)
        a_chunk = 1e6 / CHUNKS
        show("a chunk, all in one write, us", await measure(asks, "all", 1), a_chunk, "<= 12")
        show("a chunk, one write each, us", await measure(asks, "each", 1), a_chunk, "<= 20")
        show("a request, 1 message, ms", await measure(asks, "1", 1), 1e3, "-")
        show("a request, 1,000 messages, ms", await measure(asks, "1", 1_000), 1e3, "<= 10")


if __name__ == "__main__":
    asyncio.run(serve() if sys.argv[1:] == ["serve"] else main())
