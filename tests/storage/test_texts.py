"""Texts that some engine refuses, given to both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.storage import Connection, Database, PostgresDatabase, SQLiteDatabase
from bot.storage.texts import kept
from tests.postgres import Server

INSERT = "INSERT INTO marks (key, value) VALUES (?, ?)"
FIND = "SELECT value FROM marks WHERE key = ?"
REFUSED = {
    "a\0b": "a\ufffdb",
    "Gr\u00fc\0\u00dfe": "Gr\u00fc\ufffd\u00dfe",
    "a\ud83eb": "a\ufffdb",
    "\udc9c\0": "\ufffd\ufffd",
    "\ud83e\udd9c": "\U0001f99c",
}
"""Texts, and what is kept of them."""


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    if request.param == "sqlite":
        database: Database = SQLiteDatabase(tmp_path / "data.db")
    else:
        server: Server = request.getfixturevalue("postgres")
        database = PostgresDatabase(server.new_database())
    yield database
    await database.close()


@pytest.mark.parametrize("text", REFUSED)
async def test_what_cannot_be_kept_of_a_text_is_marked(database: Database, text: str) -> None:
    await database.execute(INSERT, ("key", text))
    assert await database.fetch(FIND, ("key",)) == [(REFUSED[text],)]


@pytest.mark.parametrize("text", REFUSED)
async def test_a_key_that_cannot_be_kept_finds_nothing(database: Database, text: str) -> None:
    await database.execute(INSERT, ("a", "b"))
    assert await database.fetch(FIND, (text,)) == []


async def test_what_insists_on_a_row_keeps_texts_too(database: Database) -> None:
    await database.execute(INSERT, ("key", "old"))

    def job(connection: Connection) -> None:
        connection.insist(
            "UPDATE marks SET value = ? WHERE key = ?", ("new\0\ud83e", "key"), AssertionError
        )

    await database.write(job)
    assert await database.fetch(FIND, ("key",)) == [("new\ufffd\ufffd",)]


@given(st.text())
def test_what_can_be_kept_is_left_alone(text: str) -> None:
    [found] = kept([text])
    assert found == (text if "\0" not in text else text.replace("\0", "\ufffd"))
    assert kept([b"\0", 1, None, 2.5]) == (b"\0", 1, None, 2.5)
