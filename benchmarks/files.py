"""How long the event loop is held while files come in: `python -m benchmarks.files`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from functools import partial

from bot.agent.history.attachments import Attachments
from bot.agent.tools.threads import in_daemon_thread
from bot.frontend.reading.files import understood
from bot.sessions import InMemorySessionManager
from tests.frontend.reading.samples import noise, pdf

WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit " * 20
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю.\n"


def samples() -> dict[str, bytes]:
    page = "\n".join(f"{WORDS}{number}" for number in range(60))
    return {
        "a JPEG of 8 megapixels": noise((3200, 2400), quality=98),
        "a PNG that cannot be packed": noise((1800, 1850), "PNG"),
        "a PDF of 5 MB": pdf(*[page] * 40, padding=5_000_000),
        "a PDF of 200 pages": pdf(*[WORDS] * 200),
        "a text in an old encoding": (RUSSIAN * 180_000).encode("cp1251"),
    }


async def measured(name: str, size: int, work: Awaitable[object]) -> None:
    """Print how long something took, and the longest time that the loop could do nothing else."""
    gaps: list[float] = []

    async def beat() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    beating = asyncio.create_task(beat())
    await asyncio.sleep(0.05)
    gaps.clear()
    begun = time.perf_counter()
    await work
    took = time.perf_counter() - begun
    await asyncio.sleep(0.01)
    beating.cancel()
    held = max(gaps) * 1000
    print(f"{name:32} {size / 1e6:5.1f} MB  {took * 1000:6.0f} ms  loop held {held:5.1f} ms")


async def main() -> None:
    for name, data in samples().items():
        for _ in range(2):  # the second time everything is imported
            reading = in_daemon_thread(partial(understood, data), name="reading")
            await measured(name, len(data), reading)
    store = InMemorySessionManager()
    image = noise((1568, 1568), quality=95)
    part = {"type": "blob", "media_type": "image/jpeg", "name": "a.jpg"}
    part["sha256"] = await store.put_blob(image)
    history = [{"role": "user", "content": [part]}]
    await measured("an image put in a request", len(image), Attachments(store).resolved(history))


if __name__ == "__main__":
    asyncio.run(main())
