"""How long is waited for servers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Bounds, in seconds.

    Attributes:
        start: The start of the bot waits for its servers at most this long.
        connect: From the start of a server until its tools are known; some are downloaded first.
        answer: For the list of tools of one that has been connected.
        back: A call waits this long for a server that is being started again, or has failed to.
        look: How often a server at an address is looked after, which may go unnoticed.
        first_delay: Before the first new start; each further one waits twice as long.
        max_delay: Before any new start.
        settled: Who lived this long is started again as if it were the first time.
        end: Until one that is left in good order, but does not let go, is left all the same.
    """

    start: float = 10.0
    connect: float = 90.0
    answer: float = 20.0
    back: float = 15.0
    look: float = 60.0
    first_delay: float = 0.5
    max_delay: float = 300.0
    settled: float = 60.0
    end: float = 10.0
