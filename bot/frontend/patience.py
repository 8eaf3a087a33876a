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
    if found is not None:
        shard = found._parent
        shard._backoff = Backoff(longest)
        errors = shard._handled_exceptions
        if ReconnectWebSocket not in errors:
            shard._handled_exceptions = (*errors, ReconnectWebSocket)
