"""Sessions in a SQLite file."""

from __future__ import annotations

from pathlib import Path

from bot.sessions.database.holders import FileHolders
from bot.sessions.database.sql import SQLSessionManager
from bot.storage import SQLiteDatabase


class SQLiteSessionManager(SQLSessionManager):
    """Keeps sessions in a SQLite file, which is made when first used.

    Several processes of one machine may use one file.
    """

    database: SQLiteDatabase

    def __init__(self, path: Path | str) -> None:
        file = Path(path).resolve()
        beside = file.with_name(f"{file.name}-holders")
        super().__init__(SQLiteDatabase(path, trace=beside), FileHolders(beside))
