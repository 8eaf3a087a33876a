"""Snowflakes: ids that carry their time and only grow."""

from bot.sandbox.timing.clock import Clock

# Discord's reference, "Snowflakes": milliseconds since the first second of 2015, shifted by 22.
EPOCH_MS = 1_420_070_400_000
TIME_SHIFT = 22


class Snowflakes:
    """Makes ids, each greater than the one before."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0

    def next(self) -> int:
        """Return a new id for the present moment."""
        moment = int(self._clock.now().timestamp() * 1000) - EPOCH_MS
        self._last = max(self._last + 1, moment << TIME_SHIFT)
        return self._last
