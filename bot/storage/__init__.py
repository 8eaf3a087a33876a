"""The database: connections, transactions shared by many, migrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.storage.database import Database, Row

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["Connection", "Database", "Row"]
