"""A bot's gateway session, which outlives its connections (reference, "Resuming")."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from datetime import datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources.users import Bot, Intents

if TYPE_CHECKING:
    from bot.sandbox.resources.guilds import Guild

SHARD_SHIFT = 22  # the reference, "Sharding": (guild_id >> 22) % num_shards
MOST_KEPT = 10_000  # events for a replay; how many Discord keeps is not documented


class Op(IntEnum):
    """The opcodes spoken here."""

    DISPATCH = 0
    HEARTBEAT = 1
    IDENTIFY = 2
    PRESENCE = 3
    VOICE = 4
    RESUME = 6
    RECONNECT = 7
    REQUEST_MEMBERS = 8
    INVALID_SESSION = 9
    HELLO = 10
    HEARTBEAT_ACK = 11


class Line(Protocol):
    """A connection, as far as its session and those who trouble it know it."""

    outbox: asyncio.Queue[Json]

    async def say(self, frame: Json) -> None:
        """Send a frame that is no event."""

    async def close(self, code: int) -> None:
        """Hang up."""

    def drop(self) -> None:
        """Cut the connection without a word."""

    def fall_silent(self, *, events_too: bool) -> None:
        """Acknowledge nothing any more; with ``events_too`` say nothing at all."""


class Session:
    """The intents and the shard of a bot, and every event that it was sent.

    Attributes:
        line: The connection that carries it; None while the bot is away.
        left_at: When the bot went away.
    """

    def __init__(self, bot: Bot, intents: Intents, shard: tuple[int, int]) -> None:
        self.bot, self.intents, self.shard = bot, intents, shard
        self.id = secrets.token_hex(16)
        self.sequence = 0
        self.line: Line | None = None
        self.left_at: datetime | None = None
        self._begun = False
        self._kept: deque[Json] = deque(maxlen=MOST_KEPT)

    @property
    def reads_content(self) -> bool:
        """Whether this connection asked for Message Content."""
        return Intents.MESSAGE_CONTENT in self.intents

    def serves(self, guild: Guild | None) -> bool:
        """Whether events of the guild, or of DMs when None, come to this shard."""
        number, count = self.shard
        return number == (0 if guild is None else (guild.id >> SHARD_SHIFT) % count)

    def dispatch(self, event: str, data: Json) -> None:
        """Put an event with the next sequence number in line. The only way one is sent."""
        self.sequence += 1
        frame = {"op": Op.DISPATCH, "t": event, "s": self.sequence, "d": data}
        self._kept.append(frame)
        if self.line is not None:
            self.line.outbox.put_nowait(frame)

    def remembers(self, sequence: int) -> bool:
        """Whether everything after this number can be sent again."""
        oldest: int = self._kept[0]["s"] if self._kept else self.sequence + 1
        return oldest <= sequence + 1

    def carried_by(self, line: Line, since: int) -> None:
        """Send everything after a number over a connection, and what happens from now on.

        A replay ends with RESUMED, which is not itself replayed.
        """
        self.line, self.left_at = line, None
        for frame in self._kept:
            if frame["s"] > since:
                line.outbox.put_nowait(frame)
        if self._begun:
            self.sequence += 1
            line.outbox.put_nowait({"op": Op.DISPATCH, "t": "RESUMED", "s": self.sequence, "d": {}})
        self._begun = True

    def leave(self, now: datetime) -> None:
        """Go on without a connection, for a while."""
        self.line, self.left_at = None, now
