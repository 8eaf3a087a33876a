"""How discord.py keeps trying when the connection is gone.

It waits longer and longer, up to 17 minutes: then messages are too old before it has noticed that
the network is back. And where the gateway hangs up before it has said hello, which it does while
Discord restarts, it tries no more and ends the client. It has no setting for either; both are
attributes of what it calls a shard.
"""

from __future__ import annotations

import discord
from discord.backoff import ExponentialBackoff
from discord.gateway import ReconnectWebSocket
from discord.shard import Shard


class Backoff(ExponentialBackoff[bool]):
    """Waits for a random time that grows with each failure, up to a limit."""

    def __init__(self, longest: float) -> None:
        super().__init__()
        self._longest = longest

    def delay(self) -> float:
        """Return the seconds to wait."""
        return min(super().delay(), self._longest)


def make_patient(client: discord.AutoShardedClient, shard_id: int, *, longest: float) -> None:
    """Let a shard try for ever, waiting `longest` seconds at most."""
    found = client.get_shard(shard_id)
    shard = found._parent if found is not None else None
    if isinstance(shard, Shard):
        shard._backoff = Backoff(longest)
        errors = shard._handled_exceptions
        if ReconnectWebSocket not in errors:
            shard._handled_exceptions = (*errors, ReconnectWebSocket)
