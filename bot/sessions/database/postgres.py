"""Sessions in a PostgreSQL database."""

from __future__ import annotations

from bot.sessions.database.holders import AdvisoryHolders
from bot.sessions.database.sql import SQLSessionManager
from bot.storage import PostgresDatabase


class PostgresSessionManager(SQLSessionManager):
    """Keeps sessions in a PostgreSQL database, which processes on many machines may use.

    Needs the extra `postgres`. The tables are made when first used.

    Args:
        url: As libpq takes it, for example `postgresql://user:password@host/database`.
    """

    serves_many = True
    database: PostgresDatabase

    def __init__(self, url: str) -> None:
        holders = AdvisoryHolders()
        super().__init__(PostgresDatabase(url, prepare=holders.again), holders)
