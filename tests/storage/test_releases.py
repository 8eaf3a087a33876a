"""Two releases on one database, as docs/run.md has it: schemas only grow."""

import re
from pathlib import Path

import psycopg
import pytest

from bot.errors import StorageError
from bot.events import AssistantMessageEvent, UserMessageEvent
from bot.sessions import PostgresSessionManager
from bot.storage.migrations import scripts
from tests.postgres import Server

SCRIPTS = [*scripts("sqlite"), *scripts("postgres")]
TAKES_AWAY = r"(?i)\bDROP\s+(?!INDEX)\w+|\bRENAME\b|\bALTER\s+COLUMN\b|\bSET\s+NOT\s+NULL\b"
DEMANDS = r"(?i)ADD\s+COLUMN\b(?=[^;]*\bNOT\s+NULL\b)(?![^;]*\bDEFAULT\b)"
A_NEWER_RELEASE = (
    "ALTER TABLE sessions ADD COLUMN mood TEXT NOT NULL DEFAULT 'good'",
    "ALTER TABLE events ADD COLUMN weight BIGINT NOT NULL DEFAULT 0",
    "CREATE TABLE moods (session_id TEXT PRIMARY KEY REFERENCES sessions (session_id))",
    "UPDATE schema SET version = version + 1",
)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda each: f"{each.parent.name}-{each.stem}")
def test_a_schema_takes_nothing_away_from_a_release_that_runs(script: Path) -> None:
    text = script.read_text()
    assert not re.search(TAKES_AWAY, text)
    assert not re.search(DEMANDS, text)


@pytest.mark.parametrize(
    "text",
    [
        "DROP TABLE homes;",
        "ALTER TABLE homes DROP COLUMN server_id;",
        "ALTER TABLE homes RENAME COLUMN a TO b;",
        "ALTER TABLE homes ALTER COLUMN a TYPE TEXT;",
        "ALTER TABLE homes ADD COLUMN a TEXT NOT NULL;",
    ],
)
def test_what_would_take_something_away_is_seen(text: str) -> None:
    assert re.search(TAKES_AWAY, text) or re.search(DEMANDS, text)


async def test_an_older_process_works_on_while_a_newer_one_has_begun(postgres: Server) -> None:
    url = postgres.new_database()
    older, late = PostgresSessionManager(url), PostgresSessionManager(url)
    try:
        session = await older.create("s")
        session.append(UserMessageEvent(text="hi"))
        await older.save(session)
        with psycopg.connect(url) as newer:
            for statement in A_NEWER_RELEASE:
                newer.execute(statement)
        session.append(AssistantMessageEvent(text="hello"))
        await older.save(session)
        await older.create("another")
        found = await older.get("s")
        assert found is not None
        assert [each.kind for each in found.events] == ["user_message", "assistant_message"]
        with pytest.raises(StorageError, match="a newer Parley made this database"):
            await late.initialize()
    finally:
        await older.close()
        await late.close()
