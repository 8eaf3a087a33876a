"""Who else on the machine may read what is stored: nobody, unless somebody let them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot import SQLiteSessionManager
from bot.storage.claim import claimed
from bot.storage.moving import move
from tests.commands import run
from tests.sessions.samples import says


def modes(folder: Path) -> dict[str, int]:
    """The rights that others than their owner have to the files and folders of a folder."""
    return {each.name: each.stat().st_mode & 0o077 for each in folder.rglob("*")}


@contextmanager
def in_use(path: Path) -> Iterator[None]:
    """Let all files be there that a bot has while it runs."""

    async def used() -> SQLiteSessionManager:
        manager = SQLiteSessionManager(path)
        session = await manager.get_or_create("console", "alice")
        session.append(says("a secret"))
        await manager.save(session)
        await manager.register()
        return manager

    with asyncio.Runner() as runner, claimed(path):
        manager = runner.run(used())
        yield
        runner.run(manager.close())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "our" / "own" / "parley.db"


def test_what_is_made_is_for_nobody_else(path: Path, tmp_path: Path) -> None:
    with in_use(path):
        found = modes(tmp_path)
        assert {"our", "own", "parley.db", "parley.db-wal", "parley.db-shm"} < set(found)
        assert any(name.startswith("holder-") for name in found)
    assert set(found.values()) == {0}


def test_whom_the_owner_let_read_a_database_may_go_on_reading_it(path: Path) -> None:
    with in_use(path):
        pass
    path.chmod(0o640)
    path.parent.chmod(0o750)
    with in_use(path):
        found = modes(path.parent.parent)
    assert (found["own"], found["parley.db"], found["parley.db-wal"]) == (0o050, 0o040, 0o040)


async def test_what_commands_make_is_for_nobody_else(path: Path, tmp_path: Path) -> None:
    def used() -> None:
        with in_use(path):
            pass

    await asyncio.to_thread(used)
    settings = {"DATABASE": str(path)}
    made = ("export.json", "backup.db", "moved.db")
    await run("export", "--session", "console", "--out", made[0], in_=tmp_path, settings=settings)
    await run("backup", made[1], in_=tmp_path, settings=settings)
    await asyncio.to_thread(move, f"sqlite:///{path}", f"sqlite:///{tmp_path / made[2]}")
    assert [modes(tmp_path)[name] for name in made] == [0, 0, 0]
    (tmp_path / made[1]).chmod(0o640)
    await run("backup", "--force", made[1], in_=tmp_path, settings=settings)
    assert modes(tmp_path)[made[1]] == 0o040
