"""The database: connections, transactions shared by many, migrations."""

from bot.storage.database import Database, Row
from bot.storage.jobs import Connection
from bot.storage.sqlite import SQLiteDatabase

__all__ = ["Connection", "Database", "Row", "SQLiteDatabase"]
