"""Memories in a database, found by its own full-text search."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime

from bot.sessions.stores.memories import MOST, Memory, MemoryManager, checked, full, new_memory
from bot.sessions.stores.redacting import redact
from bot.sessions.stores.words import words
from bot.sessions.times import stored_time
from bot.storage import Connection, Database, Row, SQLiteDatabase

_INSERT = """
    INSERT INTO memories (memory_id, user_id, owner, text, words, at) VALUES (?, ?, ?, ?, ?, ?)"""

_SELECT = "SELECT memory_id, text, at FROM memories WHERE user_id = ?"

_LIST = f"{_SELECT} ORDER BY at DESC, memory_id"

_COUNT = "SELECT count(*) FROM memories WHERE user_id = ?"

_DELETE_ALL = "DELETE FROM memories WHERE user_id = ?"

_DELETE = "DELETE FROM memories WHERE user_id = ? AND memory_id = ?"


def memories_in(database: Database) -> MemoryManager:
    """Return the memories of a database, whichever engine keeps it."""
    made = SQLiteMemories if isinstance(database, SQLiteDatabase) else PostgresMemories
    return made(database)


class SQLMemories(MemoryManager):
    """Keeps memories beside the sessions, so that one that is forgotten is gone from them too."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def remember(self, user_id: str, text: str) -> Memory:
        """Keep a text about somebody."""
        line = checked(text)

        def job(connection: Connection) -> Memory:
            row = connection.execute(f"{_SELECT} AND text = ?", (user_id, line)).fetchone()
            if row is not None:
                return _memory(row)
            if connection.execute(_COUNT, (user_id,)).fetchone()[0] >= MOST:
                raise full()
            made = new_memory(line)
            at, found = stored_time(made.at), " ".join(words(line))
            values = (made.memory_id, user_id, owner_word(user_id), line, found, at)
            connection.execute(_INSERT, values)
            return made

        return await self._database.write(job)

    async def recall(self, user_id: str, query: str, limit: int = 5) -> Sequence[Memory]:
        """Return what has words in common with a query."""
        wanted = words(query)
        if not wanted:
            return ()
        rows = await self._database.fetch(*self._search(user_id, wanted, limit))
        return [_memory(row) for row in rows]

    async def list(self, user_id: str) -> Sequence[Memory]:
        """Return all, the latest first."""
        return [_memory(row) for row in await self._database.fetch(_LIST, (user_id,))]

    async def forget(self, user_id: str, memory_id: str) -> bool:
        """Forget one, also where it was recalled: those logs are changed in place."""

        def job(connection: Connection) -> bool:
            if connection.execute(_DELETE, (user_id, memory_id)).rowcount != 1:
                return False
            redact(connection, user_id, [memory_id])
            self._clean(connection)
            return True

        return await self._database.write(job)

    async def forget_user(self, user_id: str) -> None:
        """Forget all."""

        def job(connection: Connection) -> None:
            rows = connection.execute(_LIST, (user_id,)).fetchall()
            if rows:
                connection.execute(_DELETE_ALL, (user_id,))
                redact(connection, user_id, [row[0] for row in rows])
                self._clean(connection)

        await self._database.write(job)

    @abstractmethod
    def _search(
        self, user_id: str, wanted: Sequence[str], limit: int
    ) -> tuple[str, Sequence[object]]:
        """Return the query, with its values, for what has one of these words, the best first."""

    @abstractmethod
    def _clean(self, connection: Connection) -> None:
        """Leave nothing of what was deleted in what is searched."""


class SQLiteMemories(SQLMemories):
    """Memories that FTS5 searches.

    Whose they are is a word of the index: what others have with the same words is not looked at.
    """

    def _search(
        self, user_id: str, wanted: Sequence[str], limit: int
    ) -> tuple[str, Sequence[object]]:
        terms = " OR ".join(f'"{word}"' for word in wanted)
        match = f"owner : {owner_word(user_id)} AND words : ({terms})"
        sql = """
            SELECT memory_id, text, at FROM memory_words
            JOIN memories ON memories.number = memory_words.rowid
            WHERE memory_words MATCH ? AND user_id = ? ORDER BY rank, at DESC LIMIT ?"""
        return sql, (match, user_id, limit)

    def _clean(self, connection: Connection) -> None:
        # FTS5 only notes what was deleted; SQLite before 3.42 has no `secure-delete` for it.
        connection.execute("INSERT INTO memory_words (memory_words) VALUES ('rebuild')")


class PostgresMemories(SQLMemories):
    """Memories that PostgreSQL searches."""

    def _search(
        self, user_id: str, wanted: Sequence[str], limit: int
    ) -> tuple[str, Sequence[object]]:
        sql = """
            SELECT memory_id, text, at FROM memories, to_tsquery('english', ?1) AS query
            WHERE user_id = ?2 AND vector @@ query
            ORDER BY ts_rank(vector, query) DESC, at DESC LIMIT ?3"""
        return sql, (" | ".join(f"'{word}'" for word in wanted), user_id, limit)

    def _clean(self, connection: Connection) -> None:
        pass


def owner_word(user_id: str) -> str:
    """Return a person as one word, which no text has."""
    return "u" + hashlib.sha256(user_id.encode()).hexdigest()[:20]


def _memory(row: Row) -> Memory:
    memory_id, text, at = row
    return Memory(memory_id=memory_id, text=text, at=datetime.fromisoformat(at))
