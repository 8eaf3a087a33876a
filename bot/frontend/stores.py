"""What the front end keeps, and where."""

from __future__ import annotations

from dataclasses import dataclass

from bot.frontend.shards import Alone
from bot.sessions import SessionStore, SQLSessionManager
from bot.sessions.deliveries import DeliveryStore
from bot.sessions.homes import HomeStore
from bot.sessions.marks import MarkStore
from bot.sessions.places import PlaceStore
from bot.sessions.usage import UsageStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """The sessions, and the small stores beside them.

    Attributes:
        sessions: Where sessions live.
        deliveries: Which message shows what.
        places: Up to where each place was read.
        marks: What was told once.
        homes: In which server and channel each session is.
        alone: Makes a block that one of all processes is in, by its name.
        usage: What calls of the model used.
    """

    sessions: SessionStore
    deliveries: DeliveryStore
    places: PlaceStore
    marks: MarkStore
    homes: HomeStore
    alone: Alone
    usage: UsageStore

    @property
    def shared(self) -> SQLSessionManager | None:
        """The sessions, if bots of other processes may use them."""
        sessions = self.sessions
        if isinstance(sessions, SQLSessionManager) and sessions.serves_many:
            return sessions
        return None

    @classmethod
    def beside(cls, sessions: SQLSessionManager) -> Stores:
        """Return the stores that share the sessions' database."""
        database = sessions.database
        return cls(
            sessions=sessions,
            deliveries=DeliveryStore(database),
            places=PlaceStore(database),
            marks=MarkStore(database),
            homes=HomeStore(database),
            alone=database.alone,
            usage=UsageStore(database),
        )
