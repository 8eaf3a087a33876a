"""`python -m bot backup`: a whole copy, of one moment, of a database that is being written."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from bot.errors import StorageError
from bot.events import UserMessageEvent
from bot.sessions import Session, SQLiteSessionManager
from bot.storage import backup
from bot.storage.backup import back_up
from tests.commands import environment, run

WRITE = """
import asyncio, sys
from bot.events import UserMessageEvent
from bot.sessions import Session, SQLiteSessionManager

async def main():
    manager = SQLiteSessionManager(sys.argv[1])
    for number in range(1_000_000):
        both = [Session(f"{side}-{number}") for side in "ab"]
        for session in both:
            session.append(UserMessageEvent(text="x" * 2_000))
        await asyncio.gather(*(manager.save(session) for session in both))
        if number == 50:
            print("ready", flush=True)

asyncio.run(main())
"""


async def a_database(path: Path, sessions: int = 3) -> Path:
    manager = SQLiteSessionManager(path)
    for number in range(sessions):
        session = Session(f"s{number}", "alice")
        session.append(UserMessageEvent(text="hello " * 1_000))
        await manager.save(session)
    await manager.close()
    return path


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


async def test_it_copies_and_tells_so_in_one_line_and_needs_no_other_setting(
    tmp_path: Path,
) -> None:
    await a_database(tmp_path / "parley.db")
    end = await run("backup", "copy.db", in_=tmp_path)
    assert (end.status, end.err) == (0, "")
    [line] = end.out.splitlines()
    assert line.startswith("parley.db is copied to copy.db, and checked: 3 sessions, 0.2 MB, ")
    copy = SQLiteSessionManager(tmp_path / "copy.db")
    session = await copy.get("s1")
    assert session is not None
    assert session.user_id == "alice"
    await copy.close()
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    assert names(tmp_path) == ["copy.db", "parley.db"]


async def test_a_file_is_overwritten_only_on_demand(tmp_path: Path) -> None:
    await a_database(tmp_path / "parley.db")
    (tmp_path / "copy.db").write_text("my notes")
    refused = await run("backup", "copy.db", in_=tmp_path)
    assert (refused.status, refused.out) == (1, "")
    assert refused.err == "No backup was made: copy.db exists; --force overwrites it\n"
    assert (tmp_path / "copy.db").read_text() == "my notes"
    forced = await run("backup", "--force", "copy.db", in_=tmp_path)
    assert forced.status == 0
    assert back_up(tmp_path / "copy.db", tmp_path / "again.db").sessions == 3


async def test_a_copy_made_while_others_write_is_of_one_moment_and_holds_nobody_up(
    tmp_path: Path,
) -> None:
    path = await a_database(tmp_path / "parley.db", 500)
    with subprocess.Popen(  # noqa: ASYNC220 - nothing else runs on this loop
        [sys.executable, "-c", WRITE, str(path)],
        stdout=subprocess.PIPE,
        env=environment({}),
        cwd=tmp_path,
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        for number in range(5):
            copied = await asyncio.to_thread(back_up, path, tmp_path / f"copy-{number}.db")
            with closing(sqlite3.connect(tmp_path / f"copy-{number}.db")) as copy:
                counts = copy.execute(
                    "SELECT count(*), sum(last_seq), (SELECT count(*) FROM events) FROM sessions"
                ).fetchone()
            assert counts == (copied.sessions,) * 3
        assert writer.poll() is None
        writer.kill()


async def test_writers_go_on_while_a_copy_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await a_database(tmp_path / "parley.db", 50)
    written = 0

    def write(*_: object) -> None:
        nonlocal written
        with closing(sqlite3.connect(path, timeout=0)) as other:
            other.execute("INSERT INTO marks VALUES (?, '')", (f"{written}",))
            other.commit()
        written += 1

    class Slow(sqlite3.Connection):
        def backup(self, target: sqlite3.Connection, **_: object) -> None:
            super().backup(target, pages=1, progress=write)

    monkeypatch.setattr(backup, "_connection", lambda each: Slow(each, isolation_level=None))
    back_up(path, tmp_path / "copy.db")
    assert written > 20
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        assert copy.execute("SELECT count(*) FROM marks").fetchone() == (0,)


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [
        ("none.db", "copy.db", "there is no database"),
        ("notes.db", "copy.db", "file is not a database"),
        ("cut.db", "copy.db", "cannot be copied"),
        ("parley.db", "folder", "is a directory"),
        ("parley.db", "nowhere/copy.db", "No such file"),
        ("parley.db", "parley.db", "is the database itself"),
        ("parley.db", "link.db", "is the database itself"),
    ],
)
async def test_what_cannot_be_copied_leaves_nothing_behind(
    source: str, target: str, told: str, tmp_path: Path
) -> None:
    path = await a_database(tmp_path / "parley.db", 50)
    (tmp_path / "link.db").symlink_to(path)
    (tmp_path / "notes.db").write_text("These are my notes. " * 100)
    (tmp_path / "folder").mkdir()
    shutil.copy(path, tmp_path / "cut.db")
    os.truncate(tmp_path / "cut.db", path.stat().st_size // 2)
    before = names(tmp_path)
    with pytest.raises(StorageError, match=told):
        back_up(tmp_path / source, tmp_path / target, overwrite=True)
    assert names(tmp_path) == before
