"""What the front end keeps, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.frontend.own.forgetting import Forgetter
from bot.frontend.shards import Alone
from bot.sessions import SessionStore, SQLSessionManager
from bot.sessions.stores.actions import ActionStore
from bot.sessions.stores.applications import ApplicationStore
from bot.sessions.stores.consents import ConsentStore
from bot.sessions.stores.deliveries import DeliveryStore
from bot.sessions.stores.homes import HomeStore
from bot.sessions.stores.ids import SessionIds
from bot.sessions.stores.marks import MarkStore
from bot.sessions.stores.memories import MemoryManager
from bot.sessions.stores.places import PlaceStore
from bot.sessions.stores.policies import PolicyStore
from bot.sessions.stores.rests import RestStore
from bot.sessions.stores.schedules import ScheduleStore
from bot.sessions.stores.settings import SettingsStore
from bot.sessions.stores.sql_memories import memories_in
from bot.sessions.stores.usage import UsageStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """The sessions, and the small stores beside them.

    Attributes:
        sessions: Where sessions live.
        deliveries: Which message shows what.
        rests: Which sessions a start has to look at.
        places: Up to where each place was read.
        marks: What was told once.
        applications: Whose the database is.
        homes: In which server and channel each session is.
        settings: What servers and channels have of their own.
        alone: Makes a block that one of all processes is in, by its name.
        memories: What is remembered of people across sessions.
        consents: Who lets that be, and where.
        schedules: What is to be said later.
        usage: What calls of the model used.
        policies: What was decided about tools.
        ids: Finds what waits in a server.
        actions: Finds what tools did.
    """

    sessions: SessionStore
    deliveries: DeliveryStore
    rests: RestStore
    places: PlaceStore
    marks: MarkStore
    applications: ApplicationStore
    homes: HomeStore
    settings: SettingsStore
    alone: Alone
    memories: MemoryManager
    consents: ConsentStore
    schedules: ScheduleStore
    usage: UsageStore
    policies: PolicyStore
    ids: SessionIds
    actions: ActionStore

    @property
    def forgetters(self) -> Sequence[Forgetter]:
        """The stores that keep something under people's ids, besides what they wrote."""
        stores = (self.sessions, self.marks, self.usage, self.settings)
        return (*stores, self.memories, self.consents, self.schedules)

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
            rests=RestStore(database),
            places=PlaceStore(database),
            marks=MarkStore(database),
            applications=ApplicationStore(database),
            homes=HomeStore(database),
            settings=SettingsStore(database),
            alone=database.alone,
            memories=memories_in(database),
            consents=ConsentStore(database),
            schedules=ScheduleStore(database),
            usage=UsageStore(database),
            policies=PolicyStore(database),
            ids=SessionIds(database),
            actions=ActionStore(database),
        )
