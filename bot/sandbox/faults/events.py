"""Gateway events that come twice, or late."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.sandbox.resources.users import Bot
from bot.sandbox.timing.gates import Gate


@dataclass(eq=False)
class EventFault:
    """One trouble with events of a name.

    Attributes:
        to: The bot they are for; None for any.
        held_by: They are sent when this gate is released, behind what comes meanwhile.
        copies: How often each is sent.
        times: How many events it befalls.
    """

    event: str
    to: Bot | None
    held_by: Gate | None = None
    copies: int = 1
    times: int = 1

    def befalls(self, event: str, bot: Bot) -> bool:
        """Whether it befalls this event."""
        return self.times > 0 and self.event == event and self.to in (None, bot)


class EventFaults:
    """The faults of events that are to come, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._awaited: list[EventFault] = []

    def duplicates_next(
        self, event: str, *, to: Bot | None = None, times: int = 1, copies: int = 2
    ) -> None:
        """Send the next events of a name more than once, as separate events."""
        self._awaited.append(EventFault(event, to, copies=copies, times=times))

    def delays_next(
        self, event: str, *, until: Gate, to: Bot | None = None, times: int = 1
    ) -> None:
        """Hold the next events of a name back until a gate is released."""
        self._awaited.append(EventFault(event, to, held_by=until, times=times))

    def deliver(self, event: str, bot: Bot, send: Callable[[], None]) -> None:
        """Send an event as often and as late as was asked for."""
        fault = next((each for each in self._awaited if each.befalls(event, bot)), None)
        if fault is None:
            send()
            return
        fault.times -= 1
        self._awaited = [each for each in self._awaited if each.times > 0]
        for _ in range(fault.copies):
            if fault.held_by is None:
                send()
            else:
                fault.held_by.when_open(send)
