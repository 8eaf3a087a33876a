"""Pruning notes of which nothing is needed any more, and that would grow for ever."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from bot.frontend.hearing.seen import QUIET, id_at
from bot.sessions.stores.deliveries import DeliveryStore
from bot.sessions.stores.places import PlaceStore

SHOWN = timedelta(days=30)
"""How old a message gets before it is not noted any more what it shows.

What has ended is not edited again. Who replies to such a message has it told to the model, even
where the model sees the conversation that it belongs to.
"""

BATCH = 500  # rows, between which others write


class Pruning:
    """Prunes what is noted of old messages, and of places in which nothing is said any more."""

    def __init__(self, deliveries: DeliveryStore, places: PlaceStore) -> None:
        self._deliveries = deliveries
        self._places = places

    async def prune(self, now: datetime) -> None:
        """Prune what is older at this time."""
        shown, read = id_at(now - SHOWN), id_at(now - QUIET)
        await _in_batches(lambda: self._deliveries.prune(shown, limit=BATCH))
        await _in_batches(lambda: self._places.prune(read, limit=BATCH))


async def _in_batches(prune: Callable[[], Awaitable[int]]) -> None:
    while await prune() >= BATCH:
        pass
