"""How far the screen is behind an answer that is being written: `python -m benchmarks.streaming`.

The real client writes into the sandbox with Discord's limits, 5 sends and 5 edits in 5 seconds a
channel, while the model says 50 tokens a second. A lag is the age of the oldest character that is
not on the screen yet. The floor is what the bucket allows at best: edits spread evenly over it,
by as many streams as share it. Goal: no 429, one stream never more than 1.5 s behind, the first
text within 0.4 s.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from bot.frontend import FrontendOptions, ParleyClient
from bot.frontend.showing.draft import Subject
from bot.frontend.showing.outbox import Outbox
from bot.frontend.showing.preview import Previews
from bot.frontend.tasks import Tasks
from bot.frontend.view.shown import Key, Shown
from bot.sandbox import REAL_LIMITS, Channel, Limits, Place, Rate, World, serve
from bot.sandbox.model import ScriptedModel, serve_model
from bot.sessions import SQLiteSessionManager
from tests.e2e.stage import Tools, is_written, parley
from tests.e2e.streams import Lags, Paced, dense, refused, shown, words, written

RATE = 50.0
TOGETHER = Limits(writes=Rate(5, 5.0))


class Town:
    """A world with a bot in it."""

    def __init__(self, limits: Limits, model: ScriptedModel) -> None:
        self.world, self.model = World(limits=limits), model
        self.guild = self.world.guild("Home")
        self.bot, self.alice = self.world.bot("Parley"), self.world.person("alice")
        self.guild.join(self.bot, permissions={"CREATE_PUBLIC_THREADS", "SEND_MESSAGES_IN_THREADS"})
        self.guild.join(self.alice)
        self.desk, self.general = self.guild.channel("desk"), self.guild.channel("general")
        self.client: ParleyClient


@asynccontextmanager
async def town(limits: Limits) -> AsyncIterator[Town]:
    model = ScriptedModel()
    it = Town(limits, model)
    with tempfile.TemporaryDirectory() as folder:
        async with serve(it.world) as sandbox, serve_model(model) as service:
            it.client = parley(
                store=SQLiteSessionManager(Path(folder) / "parley.db"),
                model_url=service.base_url,
                tools=Tools(),
                options=FrontendOptions(
                    api_base=sandbox.api_base,
                    channel_ids=frozenset({it.desk.id}),
                    guilds_within=0.05,
                    drain_seconds=0.0,
                ),
            )
            async with it.client:
                running = asyncio.create_task(it.client.start(it.bot.token))
                await it.client.wait_until_ready()
                yield it
                await it.client.close()
                await running
                await it.client.agent.close()


def tell(name: str, it: Town, places: Sequence[Place], lags: Lags, floor: float, ok: bool) -> None:
    sent, edited = written(it.world, places)
    first = max(lags.first, default=0.0)
    exact = "exact" if ok else "WRONG"
    print(
        f"{name:44}{sent:6}{edited:7}{refused(it.world):6}{first * 1e3:8.0f} ms"
        f"{lags.at(0.5):8.2f}{lags.at(0.99):8.2f}{lags.at(1.0):8.2f}{floor:8.2f}   {exact}",
        flush=True,
    )


async def one(name: str, seconds: float, limits: Limits, length: int = 2) -> None:
    """An answer in one channel."""
    async with town(limits) as it:
        answer = Paced(tokens=words(int(seconds * RATE), length), rate=RATE)
        it.model._add(answer)
        lags = Lags()
        await it.alice.says("tell me", in_=it.desk)
        await lags.watch(it.desk, it.bot, answer)
        await it.desk.until(lambda messages: not any(is_written(m) for m in messages), 20.0)
        tell(name, it, [it.desk], lags, 1.0, shown(it.desk, it.bot) == dense(answer.text))


async def threads(seconds: float) -> None:
    """Four sessions at once, in four threads of one channel."""
    async with town(REAL_LIMITS) as it:
        answers = [Paced(tokens=words(int(seconds * RATE)), rate=RATE) for _ in range(4)]
        lags, watches, places = Lags(), [], []
        for answer in answers:
            it.model._add(answer)
            opening = await it.alice.says(f"{it.bot.mention} tell me", in_=it.general)
            found = await opening.until(lambda message: message.thread is not None, 15.0)
            assert found.thread
            places.append(found.thread)
            watches.append(asyncio.create_task(lags.watch(found.thread, it.bot, answer)))
        await asyncio.gather(*watches)
        for place in places:
            await place.until(lambda messages: not any(is_written(m) for m in messages), 20.0)
        said = all(
            shown(place, it.bot) == dense(answer.text)
            for place, answer in zip(places, answers, strict=True)
        )
        tell("4 sessions in 4 threads of a channel", it, places, lags, 1.0, said)


class Sheet:
    """Where previews write without a session: message ids by key."""

    def __init__(self, outbox: Outbox, channel: Channel) -> None:
        self._outbox, self._channel = outbox, channel
        self._ids: dict[Key, int] = {}
        self._nonces = itertools.count()

    async def write(self, session_id: str, shown: Shown) -> None:
        known = self._ids.get(shown.key)
        if known is None:
            nonce = str(next(self._nonces))
            self._ids[shown.key] = await self._outbox.send(self._channel.id, shown, nonce=nonce)
        else:
            await self._outbox.edit(self._channel.id, known, shown)


async def previews(seconds: float) -> None:
    """Four previews in one channel, which is more than one session ever has."""
    async with town(REAL_LIMITS) as it:
        tasks, sheet, lags = Tasks(), Sheet(Outbox(it.client), it.desk), Lags()

        async def at_once() -> None:
            """Nothing has to be waited for."""

        async def stream(number: int) -> None:
            await asyncio.sleep(number / 2)  # nobody begins at the very same moment
            registry = Previews(write=sheet.write, pacing=it.client.pacing, tasks=tasks)
            subject = Subject(
                session_id=f"channel-{it.desk.id}",
                turn_id=f"turn-{number}",
                name="m0",
                reply_to=None,
            )
            preview = registry.of(subject, after=at_once)
            behind: list[float] = []
            begun = time.monotonic()
            for token in words(int(seconds * RATE)):
                preview.add(token)
                behind.append(time.monotonic())
                await asyncio.sleep(max(0.0, begun + len(behind) / RATE - time.monotonic()))
                seen = sum(
                    len(each.content.split()) - 1
                    for each in it.desk.messages
                    if any(f"turn-{number}:" in b["custom_id"] for b in each.buttons)
                )
                if 0 <= seen < len(behind):
                    lags.ages.append(time.monotonic() - behind[seen])
            await registry.close()

        await asyncio.gather(*map(stream, range(4)))
        await tasks.cancel()
        tell("4 previews in one channel", it, [it.desk], lags, 4.0, True)


async def traffic(seconds: float) -> None:
    """A preview beside notices, and edits that must go out, in the same channel."""
    async with town(REAL_LIMITS) as it:
        answer = Paced(tokens=words(int(seconds * RATE)), rate=RATE)
        it.model._add(answer)
        outbox, lags, waits = Outbox(it.client), Lags(), list[float]()

        async def notices() -> None:
            while True:
                await asyncio.sleep(2.6)
                begun = time.monotonic()
                await outbox.tell(it.desk.id, MARK)
                waits.append(time.monotonic() - begun)

        await it.alice.says("tell me", in_=it.desk)
        beside = asyncio.create_task(notices())
        await lags.watch(it.desk, it.bot, answer)
        beside.cancel()
        await it.desk.until(lambda messages: not any(is_written(m) for m in messages), 20.0)
        tell(
            "a stream beside notices",
            it,
            [it.desk],
            lags,
            1.0,
            shown(it.desk, it.bot) == dense(answer.text),
        )
        print(f"{'':6}the longest a notice took: {max(waits) * 1e3:.0f} ms")


MARK = "\u2026"  # a notice that counts as nothing on the screen


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streaming", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("only", nargs="*", help="of: one fast long shared threads previews traffic")
    given = parser.parse_args()
    print(f"{given.seconds:.0f} s at {RATE:.0f} tokens/s")
    print(
        f"{'':44}{'sent':>6}{'edits':>7}{'429':>6}{'first':>11}{'p50':>8}{'p99':>8}"
        f"{'max':>8}{'floor':>8}"
    )
    scenes = {
        "one": lambda: one("one stream", given.seconds, REAL_LIMITS),
        "long": lambda: one("9,900 characters, 5 messages, 40 s", 39.6, REAL_LIMITS, 4),
        "shared": lambda: one("one stream, sends and edits in one bucket", given.seconds, TOGETHER),
        "threads": lambda: threads(given.seconds),
        "previews": lambda: previews(min(given.seconds, 12.0)),
        "traffic": lambda: traffic(given.seconds),
    }
    for name, scene in scenes.items():
        if not given.only or name in given.only:
            await scene()


if __name__ == "__main__":
    asyncio.run(main())
