"""Everything that a test can make go wrong."""

from __future__ import annotations

from bot.sandbox.faults.events import EventFaults
from bot.sandbox.faults.lines import LineFaults
from bot.sandbox.faults.requests import RequestFaults
from bot.sandbox.rate_limits.traffic import Traffic
from bot.sandbox.resources.dispatch import Hub


class Faults(RequestFaults, EventFaults, LineFaults):
    """The troubles of a world: of requests, of events and of connections."""

    def __init__(self, hub: Hub, traffic: Traffic) -> None:
        RequestFaults.__init__(self)
        EventFaults.__init__(self)
        LineFaults.__init__(self, hub)
        self._traffic = traffic

    def blocks_everyone(self, seconds: float) -> None:
        """Answer every request with Cloudflare's page, a 429 without JSON, for a while."""
        self._traffic.block(seconds)
