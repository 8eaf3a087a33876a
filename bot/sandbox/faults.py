"""Everything that a test can make go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.event_faults import EventFaults
from bot.sandbox.line_faults import LineFaults
from bot.sandbox.request_faults import RequestFaults

if TYPE_CHECKING:
    from bot.sandbox.world import World


class Faults(RequestFaults, EventFaults, LineFaults):
    """The troubles of a world: of requests, of events and of connections."""

    def __init__(self, world: World) -> None:
        RequestFaults.__init__(self)
        EventFaults.__init__(self)
        LineFaults.__init__(self, world.hub)
        self._world = world

    def blocks_everyone(self, seconds: float) -> None:
        """Answer every request with Cloudflare's page, a 429 without JSON, for a while."""
        self._world.traffic.block(seconds)
