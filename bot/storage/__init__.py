"""The database: connections, transactions shared by many, migrations."""

from bot.storage.database import Database, Row
from bot.storage.jobs import Connection, Cursor, Later
from bot.storage.postgres import PostgresDatabase
from bot.storage.sqlite import SQLiteDatabase

__all__ = ["Connection", "Cursor", "Database", "Later", "PostgresDatabase", "Row", "SQLiteDatabase"]
