"""Who is told of what: gateway sessions and the events they are sent.

A session outlives its connection in the protocol, so it owns the sequence numbers and what was
sent; here it ends with its connection, because nothing is replayed yet.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from bot.sandbox.errors import Json
from bot.sandbox.users import Bot, Intents, User

if TYPE_CHECKING:
    from bot.sandbox.channels import Place, Thread
    from bot.sandbox.guilds import Guild
    from bot.sandbox.world import World

SHARD_SHIFT = 22  # the reference, "Sharding": (guild_id >> 22) % num_shards


class Session:
    """One gateway session of a bot: its intents, its shard and the frames waiting for it."""

    def __init__(self, bot: Bot, intents: Intents, shard: tuple[int, int]) -> None:
        self.bot, self.intents, self.shard = bot, intents, shard
        self.id = secrets.token_hex(16)
        self.sequence = 0
        self.frames: asyncio.Queue[Json] = asyncio.Queue()

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
        self.frames.put_nowait({"op": 0, "t": event, "s": self.sequence, "d": data})


Payload = Callable[[Session], Json]


class Hub:
    """Brings each event to the sessions that may have it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.sessions: list[Session] = []

    def in_place(
        self,
        place: Place,
        event: str,
        payload: Payload,
        intent: Intents,
        in_dm: Intents | None = None,
    ) -> None:
        """Tell those who see the place and asked for the intent."""
        needed = intent if place.guild is not None else in_dm
        for session in self._of(place.guild, needed):
            if place.seen_by(session.bot):
                session.dispatch(event, payload(session))
        self._world.pulse.beat()

    def in_guild(self, guild: Guild, event: str, payload: Payload, intent: Intents) -> None:
        """Tell the bots in the guild that asked for the intent."""
        for session in self._of(guild, intent):
            if session.bot.id in guild.members:
                session.dispatch(event, payload(session))
        self._world.pulse.beat()

    def to_bot(self, bot: Bot, event: str, payload: Payload, guild: Guild | None) -> None:
        """Tell one bot something that no intent filters."""
        for session in self._of(guild, Intents(0)):
            if session.bot is bot:
                session.dispatch(event, payload(session))
        self._world.pulse.beat()

    def thread_members(self, thread: Thread, whose: User, body: Json) -> None:
        """Tell of a membership: its owner, and those who asked for the members intent."""
        for session in self._of(thread.guild, Intents.GUILDS):
            knows = Intents.GUILD_MEMBERS in session.intents and thread.seen_by(session.bot)
            if session.bot is whose or knows:
                session.dispatch("THREAD_MEMBERS_UPDATE", body)
        self._world.pulse.beat()

    def _of(self, guild: Guild | None, needed: Intents | None) -> list[Session]:
        if needed is None:
            return []
        return [each for each in self.sessions if needed in each.intents and each.serves(guild)]
