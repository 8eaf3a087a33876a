"""What the front end keeps, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.frontend.own.forgetting import Forgetter
from bot.sessions import SessionStore, SQLiteSessionManager
from bot.sessions.deliveries import DeliveryStore
from bot.sessions.homes import HomeStore
from bot.sessions.ids import SessionIds
from bot.sessions.marks import MarkStore
from bot.sessions.places import PlaceStore
from bot.sessions.policies import PolicyStore
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
        usage: What calls of the model used.
        policies: What was decided about tools.
        ids: Finds sessions by where they are.
    """

    sessions: SessionStore
    deliveries: DeliveryStore
    places: PlaceStore
    marks: MarkStore
    homes: HomeStore
    usage: UsageStore
    policies: PolicyStore
    ids: SessionIds

    @property
    def forgetters(self) -> Sequence[Forgetter]:
        """The stores that keep something under people's ids, besides what they wrote."""
        return (self.sessions, self.marks, self.usage)

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
            usage=UsageStore(database),
            policies=PolicyStore(database),
            ids=SessionIds(database),
        )
