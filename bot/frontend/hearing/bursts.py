"""Long texts that come as several messages: whoever has no Nitro cannot send more at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import discord

NEAR_LIMIT = range(1800, 2001)  # characters of a message that may have been cut
WAIT = 1.5  # seconds after such a message in which its rest is expected
WITHIN = timedelta(seconds=4)  # between two parts, as Discord's clock has it
MOST = 20  # parts


def may_go_on(message: discord.Message) -> bool:
    """Whether a message is so long that it may be the first part of a text."""
    return len(message.content) in NEAR_LIMIT


def continues(first: discord.Message, second: discord.Message) -> bool:
    """Whether a message looks like the rest of the one before it."""
    return (
        may_go_on(first)
        and first.author.id == second.author.id
        and second.type is discord.MessageType.default
        and second.created_at - first.created_at <= WITHIN
    )


async def joined(
    messages: AsyncIterator[discord.Message],
) -> AsyncIterator[Sequence[discord.Message]]:
    """Give messages of the past, those together that are one text."""
    together: list[discord.Message] = []
    async for message in messages:
        if together and not (continues(together[-1], message) and len(together) < MOST):
            yield together
            together = []
        together.append(message)
    if together:
        yield together


class _Burst(list[discord.Message]):
    """The parts that have come so far, until it is whole."""

    def __init__(self, message: discord.Message) -> None:
        super().__init__([message])
        self.changed = asyncio.Event()
        self.is_whole = not may_go_on(message)
        self.waits_until = asyncio.get_running_loop().time() + WAIT

    def add(self, message: discord.Message) -> None:
        self.append(message)
        self.is_whole = not may_go_on(message) or len(self) == MOST
        self.waits_until = asyncio.get_running_loop().time() + WAIT
        self.changed.set()

    def end(self) -> None:
        self.is_whole = True
        self.changed.set()


class Bursts:
    """Joins the parts as they come; only a message near the limit waits, and only for its rest.

    Nothing is noted as seen meanwhile: after a kill the parts are found again.
    """

    def __init__(self) -> None:
        self._open: dict[int, _Burst] = {}

    def add(self, message: discord.Message) -> Sequence[discord.Message]:
        """Return a new burst that begins with a message; nothing if it continues another.

        To be called in the order in which messages come. Whatever else is said in the place ends
        a burst that waits.
        """
        place = message.channel.id
        before = self._open.get(place)
        if before is not None and message.id in {each.id for each in before}:
            return ()
        if before is not None and continues(before[-1], message):
            before.add(message)
            if before.is_whole:
                del self._open[place]
            return ()
        if before is not None:
            before.end()
            del self._open[place]
        burst = _Burst(message)
        if not burst.is_whole:
            self._open[place] = burst
        return burst

    async def whole(self, burst: Sequence[discord.Message]) -> Sequence[discord.Message]:
        """Return all parts, once no more is expected."""
        if isinstance(burst, _Burst):
            await self._completed(burst)
            if self._open.get(burst[0].channel.id) is burst:
                del self._open[burst[0].channel.id]
        return burst

    @staticmethod
    async def _completed(burst: _Burst) -> None:
        while not burst.is_whole:
            burst.changed.clear()
            try:
                async with asyncio.timeout_at(burst.waits_until):
                    await burst.changed.wait()
            except TimeoutError:
                return
