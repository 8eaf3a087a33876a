"""What the front end keeps, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.frontend.own.forgetting import Forgetter
from bot.sessions import SessionStore, SQLiteSessionManager
from bot.sessions.consents import ConsentStore
from bot.sessions.deliveries import DeliveryStore
from bot.sessions.homes import HomeStore
from bot.sessions.marks import MarkStore
from bot.sessions.memories import MemoryManager
from bot.sessions.places import PlaceStore
from bot.sessions.schedules import ScheduleStore
from bot.sessions.sql_memories import memories_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """The sessions, and the small stores beside them.

    Attributes:
        sessions: Where sessions live.
        deliveries: Which message shows what.
        places: Up to where each place was read.
        marks: What was told once.
        homes: In which server and channel each session is.
        memories: What is remembered of people across sessions.
        consents: Who lets that be, and where.
        schedules: What is to be said later.
    """

    sessions: SessionStore
    deliveries: DeliveryStore
    places: PlaceStore
    marks: MarkStore
    homes: HomeStore
    memories: MemoryManager
    consents: ConsentStore
    schedules: ScheduleStore

    @property
    def forgetters(self) -> Sequence[Forgetter]:
        """The stores that keep something under people's ids, besides what they wrote."""
        return (self.sessions, self.marks, self.memories, self.consents, self.schedules)

    @classmethod
    def beside(cls, sessions: SQLiteSessionManager) -> Stores:
        """Return the stores that share the sessions' database."""
        database = sessions.database
        return cls(
            sessions=sessions,
            deliveries=DeliveryStore(database),
            places=PlaceStore(database),
            marks=MarkStore(database),
            homes=HomeStore(database),
            memories=memories_in(database),
            consents=ConsentStore(database),
            schedules=ScheduleStore(database),
        )
